import { accountKey, type Classifier, projectorOf } from "../../base/classifier.ts";
import { byCodePoint, type Diagnostic, type Stage } from "../../base/diagnostic.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { templatePodAddress } from "../../registry/kubernetes/template-pod.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { below } from "../views/view-columns.ts";
import { tracedViewsOf } from "../views/views-of.ts";
import { claimsOf } from "./claims.ts";
import type { ClassReads } from "./class-reads.ts";
import { defaultSidecars } from "./default-sidecars.ts";
import { enterAll, type ProxyClasses } from "./enter-classes.ts";
import { groupByAnswers, type ProxyGroup } from "./proxy-groups.ts";

export interface AllProxies {
  readonly classes: ProxyClasses;
  /** How a node becomes a class without the compiler. */
  readonly classifier: Classifier;
  /** The proxies that the compiler knows, by the names they may call themselves; in the order of `proxies`. */
  readonly nodes: readonly CensusNode[];
}

export interface CensusNode {
  /** Its `podName.namespace` and what else it calls itself, its addresses, and `accountKey` where it has a service account. */
  readonly keys: readonly string[];
  readonly classId: string;
  /** Id of the cluster that it runs in: another cluster may have a node of the same name or address. */
  readonly clusterId: string;
}

/**
 * Counts the proxies into classes, and says how the class of a node is found by what the node says of itself.
 *
 * A projection that stands for several classes (two pods alike, one of them named by an EndpointSlice of its own) is not in the
 * classifier's table: such nodes are found by name. Each namespace with sidecars has a default class, that of a sidecar
 * without labels which serves nothing; a gateway without a compiled class has none.
 *
 * @param memo the one that the mesh was built with
 */
export function classify(mesh: Mesh, proxies: readonly Proxy[], memo: Memo): Stage<AllProxies> {
  const allProxies = keepList(memo, "census", proxies);
  const { groups, views, reads } = groupByAnswers(mesh, allProxies, memo);
  const defaults = defaultsOf(memo, { allProxies, meshConfig: mesh.config });
  const all = below(memo, views, tracedViewsOf(mesh, defaults, memo, "defaults").views);
  const entered = enterAll([...groups.map(({ first }) => first), ...defaults], all, memo);
  const ids = keepList(memo, "class ids", entered.ids.slice(0, groups.length));
  const ofDefaults = defaults.map(({ type, namespace }, at): [string, string | undefined] => [
    `${type}/${namespace}`,
    entered.ids[groups.length + at],
  ]);
  return {
    value: {
      classes: entered.classes,
      classifier: {
        ...reads,
        classes: projectionTable(memo, { allProxies, groups, ids, reads }),
        defaults: sortedRecord(new Map(ofDefaults)),
      },
      nodes: nodesOf(memo, { allProxies, groups, ids }),
    },
    diagnostics: saidOfViews(memo, { diagnostics: all.envoys.diagnostics }),
  };
}

/** Each once. */
const saidOfViews = query(
  "diagnostics of views",
  ({ diagnostics }: { readonly diagnostics: readonly (readonly Diagnostic[])[] }): readonly Diagnostic[] => [
    ...new Set(diagnostics.flat()),
  ],
);

interface Placed {
  readonly allProxies: readonly Proxy[];
  readonly groups: readonly ProxyGroup[];
  /** Of the groups' classes. */
  readonly ids: readonly string[];
}

/** Projection of what each node would send → class; without those that stand for several. */
const projectionTable = query(
  "table of projections",
  ({ allProxies, groups, ids, reads }: Placed & { readonly reads: ClassReads }, memo: Memo) => {
    const table = new Map<string, string | undefined>();
    const named = new Map<string, string | undefined>();
    const wanted = new Map<string, string | undefined>();
    const projector = projectorFor(memo, { reads });
    for (const [at, { members }] of groups.entries()) {
      for (const position of members) {
        const proxy = allProxies[position];
        const projection = proxy && projectionOf(memo, { projector, proxy });
        if (proxy === undefined || projection === undefined) continue;
        const rows = proxy.isWanted === true ? wanted : proxy.isNamed === true ? named : table;
        rows.set(projection, !rows.has(projection) || rows.get(projection) === ids[at] ? ids[at] : undefined);
      }
    }
    // What a node has asked for, or somebody has named, takes nothing from the workloads that are known.
    return sortedRecord(new Map([...wanted, ...named, ...table]));
  },
);

const projectorFor = query("projector", ({ reads }: { readonly reads: ClassReads }) => projectorOf(reads));

const projectionOf = query(
  "projection of a proxy",
  ({ projector, proxy }: { readonly projector: ReturnType<typeof projectorOf>; readonly proxy: Proxy }) =>
    projector(claimsOf(proxy)),
);

const nodesOf = query("nodes of a census", ({ allProxies, groups, ids }: Placed): readonly CensusNode[] => {
  const idOf: string[] = [];
  for (const [at, { members }] of groups.entries()) for (const position of members) idOf[position] = ids[at] ?? "";
  const nodes: CensusNode[] = [];
  const taken = allProxies.some(({ isNamed }) => isNamed === true) ? keysOfWorkloads(allProxies) : undefined;
  for (const [position, proxy] of allProxies.entries()) {
    if (proxy.isWanted !== true) {
      const { clusterId } = proxy;
      const all = keysOf(proxy);
      const keys = proxy.isNamed === true ? all.filter((key) => taken?.has(key) !== true) : all;
      nodes.push({ keys, classId: idOf[position] ?? "", clusterId });
    }
  }
  return nodes;
});

/** By which workloads are found. Whoever may name a proxy must not give theirs another class, which may lack their policies. */
const keysOfWorkloads = (allProxies: readonly Proxy[]): ReadonlySet<string> =>
  new Set(allProxies.flatMap((proxy) => (proxy.isNamed === true || proxy.isWanted === true ? [] : keysOf(proxy))));

function keysOf({ id, alias, addresses, serviceAccount }: Proxy): readonly string[] {
  const names = alias === undefined ? [id] : [id, alias];
  const keys = names.slice();
  // The pods of templates share an address that none of them has.
  for (const address of addresses) if (address !== templatePodAddress) keys.push(address);
  if (serviceAccount !== "") for (const name of names) keys.push(accountKey(serviceAccount, name));
  return keys;
}

const defaultsOf = query(
  "default sidecars",
  ({ allProxies, meshConfig }: { readonly allProxies: readonly Proxy[]; readonly meshConfig: MeshConfig }) =>
    defaultSidecars(allProxies, meshConfig),
);

/** By key, without those whose value is undefined. */
function sortedRecord(map: ReadonlyMap<string, string | undefined>): Readonly<Record<string, string>> {
  const entries = [...map].flatMap(([key, value]): readonly (readonly [string, string])[] =>
    value === undefined ? [] : [[key, value]],
  );
  return Object.fromEntries(entries.sort(([a], [b]) => byCodePoint(a, b)));
}
