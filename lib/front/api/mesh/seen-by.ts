import type { LoadedRoot } from "../../../snapshot/reader/loaded.ts";
import type { Browser } from "../browsed.ts";
import type { MembersOfRoots } from "../class-members.ts";
import type { MeshServices } from "../schema/mesh.ts";
import { inOrder, kindOf, namespacesOf } from "./calls.ts";
import { createClusterReader } from "./clusters-of-class.ts";

type Callers = NonNullable<MeshServices["seenBy"]>;

const maxCallers = 500;

/** Whose proxies have a cluster for a host, by namespace and sort. */
export async function seenBy(
  { reader }: Browser,
  membersOf: MembersOfRoots,
  loaded: LoadedRoot,
  host: string,
): Promise<{ readonly callers: Callers; readonly isPartial: boolean }> {
  const { byClass, isPartial: misses } = await membersOf.get(loaded);
  const clusters = createClusterReader(reader, loaded);
  const callers = new Map<string, Callers[number]>();
  for (const proxyClass of loaded.classes.values()) {
    const hosts = await clusters.hosts(proxyClass);
    if (hosts === undefined) return { callers: listed(callers), isPartial: true };
    if (!hosts.has(host)) continue;
    const kind = kindOf(proxyClass.id);
    for (const [namespace, nodes] of namespacesOf(byClass.get(proxyClass.id))) {
      const key = `${kind}/${namespace}`;
      callers.set(key, { namespace, kind, nodes: nodes + (callers.get(key)?.nodes ?? 0) });
    }
  }
  return { callers: listed(callers), isPartial: misses || callers.size > maxCallers };
}

const listed = (callers: ReadonlyMap<string, Callers[number]>): Callers =>
  [...callers.values()].sort(inOrder).slice(0, maxCallers);
