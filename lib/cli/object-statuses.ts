import { kindText } from "../config/diagnostic.ts";
import type { CompiledStatus } from "../snapshot/compiled.ts";
import { newestRoot, readHead } from "../snapshot/head/head.ts";
import { createSnapshotReader } from "../snapshot/snapshot-reader.ts";
import type { ConfigPlace } from "./config-place.ts";
import type { ShownObject } from "./config-print.ts";

/**
 * The objects with the status that the newest compile gives them: what a controller would write to them. Those that have none
 * are as they were.
 */
export async function withStatuses(
  place: Pick<ConfigPlace, "objects" | "isRemote">,
  objects: readonly ShownObject[],
): Promise<readonly ShownObject[]> {
  if (place.isRemote || !objects.some(({ group }) => group.startsWith("gateway.networking."))) return objects;
  const known = new Map((await statusesIn(place)).map(({ object, status }) => [object, status]));
  return objects.map((shown) => {
    const status = known.get(`${kindText(shown)}/${shown.namespace}/${shown.name}`);
    return status === undefined ? shown : { ...shown, object: { ...shown.object, status } };
  });
}

async function statusesIn({ objects }: Pick<ConfigPlace, "objects">): Promise<readonly CompiledStatus[]> {
  const read = await readHead(objects);
  if (read === undefined) return [];
  const reader = createSnapshotReader(objects);
  const { root } = await reader.root(newestRoot(read.head));
  return root.statuses === undefined ? [] : JSON.parse(await reader.text(root.statuses));
}
