import { byCodePoint, type Diagnostic, type Stage } from "../../config/diagnostic.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { standInAddress } from "../../registry/kubernetes/stand-in.ts";
import { accountKey, type Classifier, project } from "../../snapshot/classifier.ts";
import type { Memo } from "../memo/memo.ts";
import { fingerprint, plainText } from "../memo/plain-text.ts";
import { sameList } from "../memo/same.ts";
import { step } from "../memo/step.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import type { NameView } from "../views/name-view.ts";
import { type ProxyViews, viewsOf } from "../views/views-of.ts";
import { type AlikeProxies, groupByAnswers } from "./alike-proxies.ts";
import { claimsOf } from "./claims.ts";
import type { ClassReads } from "./class-reads.ts";
import { defaultSidecars } from "./default-sidecars.ts";

/** Proxies that get the same answers. */
export interface ProxyClass {
  /** `<type>-<hash of what was selected>`: the same as long as the class selects the same things. */
  readonly id: string;
  /** One of them; any would do. */
  readonly proxy: Proxy;
  readonly views: ProxyViews;
}

export interface Census {
  /** Sorted by id. */
  readonly classes: readonly ProxyClass[];
  /** How a node becomes a class without the compiler. */
  readonly classifier: Classifier;
  /** The proxies that the compiler knows, by the names they may call themselves; in the order of `proxies`. */
  readonly nodes: readonly CensusNode[];
}

export interface CensusNode {
  /** Its `podName.namespace` and what else it calls itself, its addresses, and `accountKey` where it has a service account. */
  readonly keys: readonly string[];
  readonly classId: string;
}

/**
 * Counts the proxies into classes, and says how the class of a node is found by what the node says of itself.
 *
 * A projection that stands for several classes (two pods alike, one of them named by an EndpointSlice of its own) is not in the
 * classifier's table: such nodes are found by name. Each namespace with sidecars has a default class, that of a sidecar
 * without labels which serves nothing; a gateway that nobody compiled for has none.
 *
 * @param memo the one that the mesh was built with: selections are told apart by identity; without one, by their names
 */
export function classify(mesh: Mesh, proxies: readonly Proxy[], memo: Memo): Stage<Census> {
  const census = sameList(memo, "census", proxies);
  const entries = createEntries(mesh, memo);
  const { groups, views, reads } = groupByAnswers(mesh, census, memo);
  const ids = sameList(
    memo,
    "class ids",
    groups.map(({ first }, at) => entries.enter(first, views[at]).id),
  );
  const defaults = new Map<string, string>();
  for (const proxy of defaultsOf(memo, { census, meshConfig: mesh.config })) {
    defaults.set(`${proxy.type}/${proxy.namespace}`, entries.enter(proxy).id);
  }
  return {
    value: {
      classes: [...entries.classes.values()].sort((a, b) => byCodePoint(a.id, b.id)),
      classifier: {
        ...reads,
        classes: projectionTable(memo, { census, groups, ids, reads }),
        defaults: sortedRecord(defaults),
      },
      nodes: nodesOf(memo, { census, groups, ids }),
    },
    diagnostics: [...entries.diagnostics],
  };
}

interface Entries {
  readonly classes: ReadonlyMap<string, ProxyClass>;
  readonly diagnostics: ReadonlySet<Diagnostic>;
  /** @param views those of the proxy, where they were selected before */
  enter(proxy: Proxy, views?: ProxyViews): ProxyClass;
}

function createEntries(mesh: Mesh, memo: Memo): Entries {
  const classes = new Map<string, ProxyClass>();
  const diagnostics = new Set<Diagnostic>();
  const enter = (proxy: Proxy, views = viewsOf(mesh, proxy, memo)): ProxyClass => {
    for (const diagnostic of views.diagnostics) diagnostics.add(diagnostic);
    const name = classId(proxy, views);
    // Keys name what was selected. Should two selections ever have one name, neither may get the other's answers.
    for (let id = name, turn = 2; ; id = `${name}-${turn}`, turn += 1) {
      const known = classes.get(id);
      if (known !== undefined && memo.known !== undefined && !areSame(known.views, views)) continue;
      if (known !== undefined) return known;
      const added: ProxyClass = { id, proxy, views };
      classes.set(id, added);
      return added;
    }
  };
  return { classes, diagnostics, enter };
}

const areSame = (a: ProxyViews, b: ProxyViews): boolean =>
  a.clusters === b.clusters &&
  a.endpoints === b.endpoints &&
  a.listeners === b.listeners &&
  a.routes === b.routes &&
  namesIn(a) === namesIn(b);

function classId(proxy: Proxy, views: ProxyViews): string {
  const { clusters, endpoints, listeners, routes } = views;
  const names = namesIn(views);
  const keys = [clusters, endpoints, listeners, routes, ...(names === undefined ? [] : [names])].map(({ key }) =>
    key(),
  );
  return `${proxy.type}-${fingerprint(plainText(keys))}`;
}

const namesIn = (views: ProxyViews): NameView | undefined => (views.kind === "envoy" ? views.names : undefined);

interface Placed {
  readonly census: readonly Proxy[];
  readonly groups: readonly AlikeProxies[];
  /** Of the groups' classes. */
  readonly ids: readonly string[];
}

/** Projection of what each node would send → class; without those that stand for several. */
const projectionTable = step(
  "table of projections",
  { census: "identity", groups: "identity", ids: "identity", reads: "identity" },
  ({ census, groups, ids, reads }: Placed & { readonly reads: ClassReads }, memo: Memo) => {
    const table = new Map<string, string | undefined>();
    const wanted = new Map<string, string | undefined>();
    for (const [at, { members }] of groups.entries()) {
      for (const position of members) {
        const proxy = census[position];
        const projection = proxy && projectionOf(memo, { proxy, reads });
        if (proxy === undefined || projection === undefined) continue;
        const rows = proxy.isWanted === true ? wanted : table;
        rows.set(projection, !rows.has(projection) || rows.get(projection) === ids[at] ? ids[at] : undefined);
      }
    }
    // What a node has asked for takes nothing from the workloads that are known.
    return sortedRecord(new Map([...wanted, ...table]));
  },
);

const projectionOf = step(
  "projection of a proxy",
  { proxy: "identity", reads: "identity" },
  ({ proxy, reads }: { readonly proxy: Proxy; readonly reads: ClassReads }) =>
    project({ ...reads, classes: {}, defaults: {} }, claimsOf(proxy)),
);

const nodesOf = step(
  "nodes of a census",
  { census: "identity", groups: "identity", ids: "identity" },
  ({ census, groups, ids }: Placed): readonly CensusNode[] => {
    const idOf = new Map<number, string>();
    for (const [at, { members }] of groups.entries()) {
      for (const position of members) idOf.set(position, ids[at] ?? "");
    }
    const named = census.map((proxy, position) => ({ proxy, position })).filter(({ proxy }) => proxy.isWanted !== true);
    return named.map(({ proxy: { id, alias, addresses, serviceAccount }, position }) => ({
      keys: [
        id,
        ...(alias === undefined ? [] : [alias]),
        // The pods of templates share an address that none of them has.
        ...addresses.filter((address) => address !== standInAddress),
        ...(serviceAccount === "" ? [] : [id, ...(alias === undefined ? [] : [alias])]).map((name) =>
          accountKey(serviceAccount, name),
        ),
      ],
      classId: idOf.get(position) ?? "",
    }));
  },
);

const defaultsOf = step(
  "default sidecars",
  { census: "identity", meshConfig: "identity" },
  ({ census, meshConfig }: { readonly census: readonly Proxy[]; readonly meshConfig: MeshConfig }) =>
    defaultSidecars(census, meshConfig),
);

/** By key, without those whose value is undefined. */
function sortedRecord(map: ReadonlyMap<string, string | undefined>): Readonly<Record<string, string>> {
  const entries = [...map].flatMap(([key, value]): readonly (readonly [string, string])[] =>
    value === undefined ? [] : [[key, value]],
  );
  return Object.fromEntries(entries.sort(([a], [b]) => byCodePoint(a, b)));
}
