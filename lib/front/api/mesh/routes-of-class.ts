import { isRecord } from "../../../base/classifier.ts";
import type { LoadedRoot } from "../../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../../snapshot/reader/snapshot-reader.ts";
import type { ProxyClass } from "../../../snapshot/root.ts";
import { wholeText } from "../../../snapshot/whole-text.ts";
import { outboundOf } from "./clusters-of-class.ts";

/** A route that decides something: it leads elsewhere than to the whole service that was asked for. */
export interface Leading {
  /** What a client asks for: the first domain of the virtual host, without a port. */
  readonly host: string;
  /** `prefix /reviews`; empty for every request. */
  readonly match: string;
  readonly to: readonly Part[];
}

export interface Part {
  readonly host: string;
  readonly subset: string;
  readonly port: number;
  /** Of the route's requests, from 0 to 100. */
  readonly weightPercent: number;
}

/** Text of route tables that is read for one answer. */
const maxBytes = 16 * 1024 * 1024;
const maxRoutes = 2_000;
const maxParts = 20;

export const createRouteReader = (reader: SnapshotReader) => ({
  /** The routes of a class that decide something, in the order of its tables. */
  async routes(
    { root }: LoadedRoot,
    { stream }: ProxyClass,
  ): Promise<{ readonly routes: readonly Leading[]; readonly isPartial: boolean }> {
    const tree = await reader.tree(root, "routes", stream.routes);
    const found = new Map<string, Leading>();
    let left = maxBytes;
    for (const segment of tree.segments) {
      left -= segment.bodyBytes;
      if (left < 0 || found.size >= maxRoutes) return { routes: [...found.values()], isPartial: true };
      const tables: unknown = JSON.parse(`[${await wholeText(reader.texts(segment))}]`);
      for (const route of listOf(tables).flatMap(leadingIn)) found.set(JSON.stringify(route), route);
    }
    return { routes: [...found.values()].slice(0, maxRoutes), isPartial: found.size > maxRoutes };
  },
});

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const memberOf = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);

const leadingIn = (table: unknown): readonly Leading[] =>
  listOf(memberOf(table, "virtualHosts")).flatMap(leadingOfHost);

function leadingOfHost(virtualHost: unknown): readonly Leading[] {
  const [first] = listOf(memberOf(virtualHost, "domains"));
  const host = typeof first === "string" ? first.replace(/:\d+$/, "") : "";
  return listOf(memberOf(virtualHost, "routes")).flatMap((route) => {
    const to = partsOf(memberOf(route, "route"));
    const isPlain = to.length === 1 && to[0]?.host === host && to[0].subset === "";
    return to.length === 0 || isPlain ? [] : [{ host, match: matchText(memberOf(route, "match")), to }];
  });
}

function partsOf(action: unknown): readonly Part[] {
  const single = memberOf(action, "cluster");
  if (typeof single === "string") return partOf(single, 100);
  const weighted = listOf(memberOf(memberOf(action, "weightedClusters"), "clusters")).slice(0, maxParts);
  const weightOf = (one: unknown) => Number(memberOf(one, "weight")) || 0;
  const total = weighted.reduce<number>((sum, one) => sum + weightOf(one), 0);
  return weighted.flatMap((one) => {
    const name = memberOf(one, "name");
    return typeof name === "string"
      ? partOf(name, total === 0 ? 0 : Math.round((weightOf(one) / total) * 1_000) / 10)
      : [];
  });
}

function partOf(cluster: string, weightPercent: number): readonly Part[] {
  const outbound = outboundOf(cluster);
  return outbound === undefined ? [] : [{ ...outbound, weightPercent }];
}

const kinds = ["path", "prefix", "pathSeparatedPrefix"] as const;

function matchText(match: unknown): string {
  const regex = memberOf(memberOf(match, "safeRegex"), "regex");
  const path = kinds.flatMap((kind) => {
    const value = memberOf(match, kind);
    return typeof value === "string" && !(kind === "prefix" && value === "/")
      ? [`${kind === "path" ? "" : "prefix "}${value}`]
      : [];
  });
  const headers = listOf(memberOf(match, "headers")).length;
  const parts = [
    ...path,
    ...(typeof regex === "string" ? [`matching ${regex}`] : []),
    ...(headers > 0 ? [headers === 1 ? "a header" : `${headers} headers`] : []),
  ];
  return parts.join(", ").slice(0, 200);
}
