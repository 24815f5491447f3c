import type { CorsPolicyJson } from "../../../gen/envoy/extensions/filters/http/cors/v3/cors_pb.ts";
import { stringMismatch } from "../string-match.ts";
import { defaultPart } from "./fraction.ts";
import type { Passage } from "./passage.ts";
import type { FilterContext, Stream } from "./stream.ts";

/** A browser that asks what it may ask. */
export const isPreflight = (headers: ReadonlyMap<string, string>): boolean =>
  headers.get(":method") === "OPTIONS" &&
  (headers.get("origin") ?? "") !== "" &&
  (headers.get("access-control-request-method") ?? "") !== "";

/**
 * The filter for CORS answers preflight requests of origins that a route lets in, and where the route says so all of them.
 *
 * @param policies of the route, the most specific first: each says what those before it leave open
 * @param isRouted whether the route leads to a cluster: others have no CORS
 * @returns undefined where it has nothing to say
 * @see envoy 1.40.0 source/extensions/filters/http/cors/cors_filter.cc
 */
export function throughCors(
  policies: readonly CorsPolicyJson[],
  isRouted: boolean,
  { headers }: Stream,
  { readRegex, work }: FilterContext,
): Passage | undefined {
  const [first] = policies;
  if (!isRouted || first === undefined || !isPreflight(headers)) return undefined;
  const part = defaultPart(first.filterEnabled, 1);
  if (part === 0) return undefined;
  const origin = headers.get("origin") ?? "";
  const allowed = policies.find(({ allowOriginStringMatch = [] }) => allowOriginStringMatch.length > 0);
  const isAllowed = (allowed?.allowOriginStringMatch ?? []).some(
    (matcher) => work.spend() && [origin, "*"].some((one) => stringMismatch(matcher, one, readRegex) === undefined),
  );
  const forwards = policies.find((one) => one.forwardNotMatchingPreflights !== undefined);
  if (!isAllowed && (forwards?.forwardNotMatchingPreflights ?? true))
    return { why: "a preflight request of CORS, of an origin that is not let in: it passes" };
  const why = `a preflight request of CORS is answered here, ${isAllowed ? "with" : "without"} leave for its origin`;
  return { why, ends: { part, end: { kind: "response", status: 200, why } } };
}
