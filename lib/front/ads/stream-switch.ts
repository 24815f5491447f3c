import type { NodeClaims } from "../../base/classifier.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { dueOf, type Sources } from "../../streams/due.ts";
import type { Watch } from "../../streams/watch.ts";
import type { Caller } from "../auth/caller.ts";
import type { Switching } from "../heads/switches.ts";
import { placeNode } from "../nodes/place-node.ts";

/** What a front's streams are answered from. */
export interface FrontSources extends Sources {
  readonly reader: SnapshotReader;
}

/** What a stream knows of its reader. */
interface StreamReader {
  readonly claims: NodeClaims;
  readonly watches: ReadonlyMap<ResourceType, Watch>;
}

/**
 * A stream is through a gate once its reader has accepted all clusters that are needed, and the endpoints that it asked for with them. A
 * reader says so itself, so no list of versions is asked for.
 */
export function streamSwitching(sources: FrontSources, { claims, watches }: StreamReader, caller: Caller): Switching {
  return {
    shape: "stream",
    place: (loaded) => placeNode(sources.reader, loaded, claims, caller),
    async hasClusters(_versions, loaded, classId) {
      const clusters = watches.get("clusters");
      const endpoints = watches.get("endpoints");
      if (clusters === undefined || !(await hasAll(sources, clusters, loaded, classId, "clusters"))) return false;
      return endpoints === undefined || hasAll(sources, endpoints, loaded, classId, "endpoints");
    },
  };
}

/** Whether a reader has accepted everything that it wants of a type, as a root has it. */
async function hasAll(
  sources: FrontSources,
  watch: Watch,
  loaded: LoadedRoot,
  classId: string,
  type: ResourceType,
): Promise<boolean> {
  const shape = loaded.classes.get(classId)?.stream;
  if (shape === undefined || watch.open.length > 0 || watch.refused.size > 0) return false;
  const tree = await sources.reader.tree(loaded.root, type, shape[type]);
  const due = await dueOf(sources, watch, tree);
  return !due.isAnswer && due.changed.length === 0 && due.missing.length === 0;
}
