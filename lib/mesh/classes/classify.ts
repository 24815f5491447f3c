import type { Diagnostic, Stage } from "../../config/diagnostic.ts";
import { byCodePoint } from "../../config/diagnostic.ts";
import type { Classifier } from "../../snapshot/classifier.ts";
import { fingerprint } from "../memo/fingerprint.ts";
import type { Memo } from "../memo/memo.ts";
import { sameList } from "../memo/same.ts";
import type { Mesh } from "../mesh.ts";
import type { Proxy } from "../proxy/proxy.ts";
import { type ProxyViews, viewsOf } from "../views/views-of.ts";
import { alikeProxies } from "./alike-proxies.ts";
import { classReads } from "./class-reads.ts";

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
  /** Its `podName.namespace` and its addresses. */
  readonly keys: readonly string[];
  readonly classId: string;
}

/**
 * Counts the proxies into classes, and says how the class of a node is found by what the node says of itself.
 *
 * A projection that stands for several classes (two pods alike, one of them named by an EndpointSlice of its own) is not in the
 * classifier's table: such nodes are found by name. Each namespace with sidecars has a default class, that of a sidecar
 * without labels which serves nothing; a gateway that nobody compiled for has none.
 */
export function classify(mesh: Mesh, proxies: readonly Proxy[], memo: Memo): Stage<Census> {
  const classes = new Map<string, ProxyClass>();
  const diagnostics = new Set<Diagnostic>();
  const enter = (proxy: Proxy): ProxyClass => {
    const views = viewsOf(mesh, proxy, memo);
    for (const diagnostic of views.diagnostics) diagnostics.add(diagnostic);
    const id = classId(proxy, views);
    const known = classes.get(id);
    if (known !== undefined) return known;
    const added: ProxyClass = { id, proxy, views };
    classes.set(id, added);
    return added;
  };
  const census = sameList(memo, "census", proxies);
  const reads = classReads(mesh, memo);
  const groups = memo([census, mesh.registry, reads], `alike proxies|${mesh.compat}`, () =>
    alikeProxies(mesh, census, reads, memo),
  );
  const table = new Map<string, string | undefined>();
  const nodes: CensusNode[] = [];
  for (const group of groups) {
    const { id } = enter(group.first);
    for (const projection of group.projections) {
      const known = table.get(projection);
      table.set(projection, !table.has(projection) || known === id ? id : undefined);
    }
    for (const { position, keys } of group.members) nodes[position] = { keys, classId: id };
  }
  const defaults = new Map<string, string>();
  for (const proxy of memo([census], "default sidecars", () => defaultSidecars(census))) {
    defaults.set(`sidecar/${proxy.namespace}`, enter(proxy).id);
  }
  return {
    value: {
      classes: [...classes.values()].sort((a, b) => byCodePoint(a.id, b.id)),
      classifier: { ...reads, classes: sortedRecord(table), defaults: sortedRecord(defaults) },
      nodes,
    },
    diagnostics: [...diagnostics],
  };
}

function classId(proxy: Proxy, { clusters, endpoints, listeners, routes }: ProxyViews): string {
  return `${proxy.type}-${fingerprint(JSON.stringify([clusters.key, endpoints.key, listeners.key, routes.key]))}`;
}

/** One sidecar for each namespace that has any: like its first, but without labels and address of a workload. */
function defaultSidecars(proxies: readonly Proxy[]): readonly Proxy[] {
  const byNamespace = new Map<string, Proxy>();
  for (const proxy of proxies) {
    if (proxy.type !== "sidecar" || byNamespace.has(proxy.namespace)) continue;
    const ipv6 = proxy.addresses[0]?.includes(":") === true;
    byNamespace.set(proxy.namespace, {
      ...proxy,
      id: `.${proxy.namespace}`,
      // Documentation ranges: no workload has these addresses.
      addresses: [ipv6 ? "2001:db8::1" : "192.0.2.1"],
      labels: {},
      nodeName: "",
      locality: "",
    });
  }
  return [...byNamespace.values()];
}

/** By key, without those whose value is undefined. */
function sortedRecord(map: ReadonlyMap<string, string | undefined>): Readonly<Record<string, string>> {
  const entries = [...map].flatMap(([key, value]): readonly (readonly [string, string])[] =>
    value === undefined ? [] : [[key, value]],
  );
  return Object.fromEntries(entries.sort(([a], [b]) => byCodePoint(a, b)));
}
