import { createHash } from "node:crypto";
import type { Diagnostic, Stage } from "../config/diagnostic.ts";
import { type Classifier, type NodeClaims, project } from "../snapshot/classifier.ts";
import { classReads } from "./class-reads.ts";
import type { Memo } from "./memo.ts";
import type { Mesh } from "./mesh.ts";
import type { Proxy } from "./proxy.ts";
import { type ProxyViews, viewsOf } from "./views-of.ts";

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
  readonly nodes: readonly { readonly keys: readonly string[]; readonly classId: string }[];
}

/**
 * Counts the proxies into classes, and says how the class of a node is found by what the node says of itself.
 *
 * A projection that stands for several classes (two pods alike, one of them named by an EndpointSlice of its own) is not in the
 * classifier's table: such nodes are found by name. Each namespace with sidecars has a default class, that of a sidecar
 * without labels which serves nothing.
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
  const counted = proxies.map((proxy) => ({ proxy, proxyClass: enter(proxy) }));
  const defaults = new Map<string, string>();
  for (const proxy of defaultSidecars(proxies)) defaults.set(`sidecar/${proxy.namespace}`, enter(proxy).id);
  const perspectives = [...classes.values()].map(({ views }) => views.endpoints.perspective);
  const reads = classReads(mesh, perspectives, memo);
  const table = projectionTable({ ...reads, classes: {}, defaults: {} }, counted);
  return {
    value: {
      classes: [...classes.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
      classifier: { ...reads, classes: sortedRecord(table), defaults: sortedRecord(defaults) },
      nodes: counted.map(({ proxy, proxyClass }) => ({ keys: [proxy.id, ...proxy.addresses], classId: proxyClass.id })),
    },
    diagnostics: [...diagnostics],
  };
}

function classId(proxy: Proxy, { clusters, endpoints, listeners, routes }: ProxyViews): string {
  const keys = JSON.stringify([clusters.key, endpoints.key, listeners.key, routes.key]);
  return `${proxy.type}-${createHash("sha256").update(keys).digest("hex").slice(0, 24)}`;
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

/** What a node would send for a proxy. */
export function claimsOf(proxy: Proxy): NodeClaims {
  return {
    id: [proxy.type, proxy.addresses[0] ?? "", proxy.id, proxy.dnsDomain].join("~"),
    cluster: proxy.nodeCluster,
    metadata: proxy.metadata.raw,
    locality: proxy.locality,
  };
}

function projectionTable(
  classifier: Classifier,
  counted: readonly { readonly proxy: Proxy; readonly proxyClass: ProxyClass }[],
): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const { proxy, proxyClass } of counted) {
    const projection = project(classifier, claimsOf(proxy));
    if (projection === undefined) continue;
    const known = table.get(projection);
    if (known !== undefined && known !== proxyClass.id) ambiguous.add(projection);
    table.set(projection, proxyClass.id);
  }
  for (const projection of ambiguous) table.delete(projection);
  return table;
}

function sortedRecord(map: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  return Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}
