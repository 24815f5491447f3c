import { kindText } from "../../base/diagnostic.ts";
import { newestStatuses } from "../../compile/statuses/newest-statuses.ts";
import type { ShownObject } from "./config-print.ts";
import type { ConfigTarget } from "./config-target.ts";

/**
 * The objects with the status that the newest compile gives them: what a controller would write to them. Those that have none
 * are as they were.
 */
export async function withStatuses(
  place: Pick<ConfigTarget, "objects" | "isRemote">,
  objects: readonly ShownObject[],
): Promise<readonly ShownObject[]> {
  if (place.isRemote || !objects.some(({ group }) => group.startsWith("gateway.networking."))) return objects;
  const newest = await newestStatuses(place.objects);
  const known = new Map((newest?.statuses ?? []).map(({ object, status }) => [object, status]));
  return objects.map((shown) => {
    const status = known.get(`${kindText(shown)}/${shown.namespace}/${shown.name}`);
    return status === undefined ? shown : { ...shown, object: { ...shown.object, status } };
  });
}
