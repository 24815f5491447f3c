import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedTree } from "../../snapshot/reader/loaded.ts";
import { type CoreType, coreTypes, type ResourceType } from "../../snapshot/resource-type.ts";
import { createDifferences } from "../../streams/differences.ts";
import type { Sources } from "../../streams/due.ts";
import { namesIn, valueOf } from "../../streams/name-map.ts";
import type { SentAnswer, Watch } from "../../streams/watch.ts";
import type { LocalResource, LocalResources, Offer } from "./offer.ts";
import { createLocalTrees } from "./trees.ts";

const differencesBytes = 4 * 1024 * 1024;

/** A stream forgets an unanswered answer when eight others of its type are under way. */
const maxRecent = 8 * coreTypes.length;

/** What Envoy is offered, in the form that streams are answered from. */
export interface OfferedTrees {
  readonly sources: Sources;
  /** @returns whether it is another offer */
  offer(offer: Offer): boolean;
  /** Whether nothing was offered yet. */
  isEmpty(): boolean;
  /** @returns undefined for a type that is not offered */
  treeOf(type: ResourceType): LoadedTree | undefined;
  /** The resources of an answer. */
  sentIn(answer: SentAnswer): readonly LocalResource[];
  /** Whether Envoy has accepted what is offered of a type. A refused version that is no longer offered does not count. */
  hasTaken(type: ResourceType, watch: Watch): boolean;
}

export function createOfferedTrees(): OfferedTrees {
  const { reader, treeOf: treeOfResources } = createLocalTrees();
  let offered: Offer | undefined;
  /** What answers under way were made from, by the version that they name; the latest last. */
  let recent: readonly { readonly version: string; readonly resources: LocalResources }[] = [];

  function treeOf(type: ResourceType): LoadedTree | undefined {
    if (offered === undefined || !isCore(type)) return undefined;
    const resources = offered[type];
    const tree = treeOfResources(resources);
    const version = wireVersion(tree.version);
    if (!recent.some((one) => one.version === version)) recent = [...recent, { version, resources }].slice(-maxRecent);
    return tree;
  }

  return {
    sources: { reader, differences: createDifferences(reader, differencesBytes), known: new WeakMap() },
    offer(next) {
      const isOther = next !== offered;
      offered = next;
      return isOther;
    },
    isEmpty: () => offered === undefined,
    treeOf,
    sentIn({ names, version }) {
      const sent = recent.find((one) => one.version === version)?.resources;
      return names.flatMap((name) => sent?.get(name) ?? []);
    },
    hasTaken(type, { has, open, refused, names, owed }) {
      const tree = treeOf(type);
      const isFollowed = (name: string) => names === "all" || valueOf(names, name) !== undefined;
      return (
        tree === undefined ||
        (has?.version === tree.version &&
          open.length === 0 &&
          owed.kind === "nothing" &&
          !namesIn(refused).some(isFollowed))
      );
    },
  };
}

export const isCore = (type: string): type is CoreType => coreTypes.some((core) => core === type);
