import { byCodePoint } from "../../../base/diagnostic.ts";
import type { LoadedRoot } from "../../../snapshot/reader/loaded.ts";
import { createLoadCache, type LoadCache } from "../../../snapshot/worlds/load-cache.ts";
import { type Answered, type Asked, found } from "../asked.ts";
import { type Browser, browsed } from "../browsed.ts";
import type { Members, MembersOfRoots } from "../class-members.ts";
import type { Mesh } from "../schema/mesh.ts";
import { createClusterReader, namespaceOfHost } from "./clusters-of-class.ts";

export type MeshOfRoots = LoadCache<LoadedRoot, Omit<Mesh, "root">>;

export const createMeshOfRoots = (browser: Browser, membersOf: MembersOfRoots, maxBytes: number): MeshOfRoots =>
  createLoadCache<LoadedRoot, Omit<Mesh, "root">>({
    nameOf: ({ hash }) => hash,
    maxBytes,
    load: (loaded) => meshOf(browser, membersOf, loaded),
    sizeOf: ({ callers, namespaces }) =>
      callers.reduce((sum, { sees }) => sum + 400 + 100 * sees.length, 200 * namespaces.length + 200),
  });

/** Who may call whom: callers by namespace and sort, and how many services of which namespaces they see. */
export async function answerMesh(browser: Browser, meshes: MeshOfRoots, asked: Asked): Promise<Answered<Mesh>> {
  const version = await browsed(browser, asked);
  if (version.kind === "refused") return version;
  return found({ root: version.value.hash, ...(await meshes.get(version.value)) });
}

interface Caller {
  readonly namespace: string;
  readonly kind: string;
}

interface Calling extends Caller {
  readonly classes: string[];
  nodes: number;
  readonly hosts: Set<string>;
}

/** Of each, in one picture. */
const maxCallers = 500;
const maxNamespaces = 500;
const maxClassesOfCaller = 20;

async function meshOf({ reader }: Browser, membersOf: MembersOfRoots, loaded: LoadedRoot): Promise<Omit<Mesh, "root">> {
  const { byClass, isPartial: misses } = await membersOf.get(loaded);
  const clusters = createClusterReader(reader, loaded);
  const callers = new Map<string, Calling>();
  const all = new Set<string>();
  let isPartial = misses;
  for (const proxyClass of loaded.classes.values()) {
    const hosts = await clusters.hosts(proxyClass);
    if (hosts === undefined) {
      isPartial = true;
      break;
    }
    for (const host of hosts) all.add(host);
    const kind = kindOf(proxyClass.id);
    for (const [namespace, nodes] of namespacesOf(byClass.get(proxyClass.id))) {
      const key = `${kind}/${namespace}`;
      if (!callers.has(key) && callers.size >= maxCallers) isPartial = true;
      else {
        const caller = callers.get(key) ?? { namespace, kind, classes: [], nodes: 0, hosts: new Set() };
        callers.set(key, caller);
        caller.nodes += nodes;
        if (caller.classes.length < maxClassesOfCaller) caller.classes.push(proxyClass.id);
        for (const host of hosts) caller.hosts.add(host);
      }
    }
  }
  const namespaces = [...Map.groupBy(all, namespaceOfHost)].map(([name, hosts]) => ({ name, services: hosts.length }));
  namespaces.sort((a, b) => byCodePoint(a.name, b.name));
  return {
    namespaces: namespaces.slice(0, maxNamespaces),
    services: all.size,
    callers: [...callers.values()].sort(inOrder).map(({ hosts, ...caller }) => ({
      ...caller,
      seesAll: hosts.size === all.size,
      sees: [...Map.groupBy(hosts, namespaceOfHost)]
        .map(([namespace, seen]) => ({ namespace, services: seen.length }))
        .sort((a, b) => byCodePoint(a.namespace, b.namespace))
        .slice(0, maxNamespaces),
    })),
    isPartial: isPartial || namespaces.length > maxNamespaces,
  };
}

/** `router` of `router-793a…`: what sort of proxies a class is of. */
export const kindOf = (id: string): string => id.split("-")[0] ?? id;

/** Gateways first: requests come in there. */
export const inOrder = (a: Caller, b: Caller): number =>
  Number(b.kind === "router") - Number(a.kind === "router") ||
  byCodePoint(a.namespace, b.namespace) ||
  byCodePoint(a.kind, b.kind);

/** Namespaces of a class's proxies, with how many are known; none are where it is only the default. */
export function namespacesOf(
  { nodes, defaultOf }: Members = { nodes: [], defaultOf: [] },
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of defaultOf) counts.set(key.slice(key.indexOf("/") + 1), 0);
  for (const name of nodes) {
    const namespace = name.slice(name.lastIndexOf(".") + 1);
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return counts;
}
