import type { Trace, Way } from "../../../lib/trace/decision.ts";
import type { TracedRequest } from "../../../lib/trace/traced-request.ts";
import type { Observed } from "./observe.ts";

/** What a trace says and a real Envoy did not do; undefined where they agree. */
export function disagreement({ decisions, ways }: Trace, request: TracedRequest, seen: Observed): string | undefined {
  const listener = decisions.find(({ step }) => step === "listener");
  const chain = decisions.find(({ step }) => step === "filter chain");
  const told = (what: string, expected: unknown, got: unknown) =>
    `${what}: traced ${JSON.stringify(expected)}, seen ${JSON.stringify(got)}`;
  if (listener?.chosen !== seen.listener) return told("listener", listener?.chosen, seen.listener);
  const index = chain?.chosen === undefined ? undefined : String(chain.place?.index ?? "default");
  const seenChain = seen.chain === null ? undefined : seen.chain;
  if (index !== seenChain) return told("filter chain", index, seenChain);
  const complaints = ways.map((way) => wayDisagreement(way, request, seen));
  return complaints.includes(undefined) ? undefined : complaints[0];
}

function wayDisagreement(
  { decisions, end, rewritten }: Way,
  { http }: TracedRequest,
  seen: Observed,
): string | undefined {
  const told = (what: string, expected: unknown, got: unknown) =>
    `${what}: traced ${JSON.stringify(expected)}, seen ${JSON.stringify(got)}`;
  // A token may lead to another route: the last counts.
  const place = decisions.findLast(({ step }) => step === "route")?.place;
  const at = seen.at ?? undefined;
  if (seen.status !== "tcp" && place?.index !== at?.route) return told("route", place, at);
  if (place?.virtualHost !== undefined && place.virtualHost !== at?.host) return told("virtual host", place, at);
  switch (end.kind) {
    case "response":
      return seen.status === end.status ? undefined : told("status", end, seen);
    case "redirect":
      return seen.status === end.status && seen.location === end.location ? undefined : told("redirect", end, seen);
    case "original destination":
      return seen.cluster === end.cluster ? undefined : told("cluster", end, seen);
    case "endpoints": {
      const path = http === undefined || seen.status === "tcp" ? undefined : (rewritten.path ?? http.path);
      if (path !== (seen.path ?? undefined)) return told("path", path, seen.path);
      if (isDenied(seen)) return told("end", end, seen);
      const isThere = end.endpoints.some(({ address, port }) => seen.host === `${address}:${port}`);
      return seen.cluster === end.cluster && isThere ? undefined : told("endpoint", end, seen);
    }
    case "closed":
      // Policies close a connection at its first byte, when its upstream is there already.
      if (isDenied(seen)) return undefined;
      return seen.status === undefined || seen.host === null || seen.status === 0 ? undefined : told("end", end, seen);
    case "not known":
      return told("end", end, seen);
  }
}

const isDenied = ({ ended }: Observed): boolean => ended?.startsWith("rbac_access_denied") === true;
