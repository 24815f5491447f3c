import type { HTTPFaultJson } from "../../../gen/envoy/extensions/filters/http/fault/v3/fault_pb.ts";
import { percent } from "../decision.ts";
import { headerMismatch } from "../header-match.ts";
import { partOf } from "./fraction.ts";
import type { Passage } from "./passage.ts";
import type { FilterContext, Stream } from "./stream.ts";
import { every, truthOf } from "./truth.ts";

/**
 * The filter for faults: it answers a part of the requests, and delays some.
 *
 * @param cluster that the route leads to; absent where it leads to none, or to several
 * @returns undefined where it has nothing to say
 * @see envoy 1.40.0 source/extensions/filters/http/fault/fault_filter.cc
 */
export function throughFault(
  config: HTTPFaultJson,
  cluster: string | undefined,
  { headers }: Stream,
  { readRegex, work }: FilterContext,
): Passage | undefined {
  const { abort, delay, upstreamCluster = "", downstreamNodes = [], maxActiveFaults } = config;
  if (abort === undefined && delay === undefined) return undefined;
  if (upstreamCluster !== "" && upstreamCluster !== cluster) return { why: `its faults are for ${upstreamCluster}` };
  if (downstreamNodes.length > 0 && !downstreamNodes.includes(headers.get("x-envoy-downstream-service-node") ?? ""))
    return { why: "its faults are for other nodes" };
  const matching = every(
    (config.headers ?? []).map((matcher) =>
      truthOf(work.spend() ? headerMismatch(matcher, headers, readRegex) : undefined, matcher.name ?? ""),
    ),
  );
  if (matching.is === "no") return { why: `its faults are not for this request: ${matching.why}` };
  const delayed = delayText(delay);
  const status = abortStatus(abort, headers);
  const part = abort?.percentage === undefined ? 0 : partOf(abort.percentage);
  const aborts = part > 0 && status !== undefined;
  const limit = maxActiveFaults === undefined ? "" : `, unless ${maxActiveFaults} are at work already`;
  const words = aborts ? `${percent(part)} % are answered with ${status}${limit}` : "";
  const why = [delayed, words].filter(Boolean).join("; ");
  if (why === "") return undefined;
  if (!aborts) return { why };
  const end = { kind: "response", status, why: "a fault that the configuration asks for" } as const;
  const on = matching.is === "depends" ? matching.on : undefined;
  if (on !== undefined) return { why, ends: { part: "unknown", on, end } };
  if (limit !== "") return { why, ends: { part: "unknown", on: ["how many faults are at work"], end } };
  return { why, ends: { part, end } };
}

function delayText(delay: HTTPFaultJson["delay"]): string {
  if (delay?.fixedDelay === undefined || delay.percentage === undefined) return "";
  const part = partOf(delay.percentage);
  return part === 0 ? "" : `${percent(part)} % are delayed by ${delay.fixedDelay}`;
}

/** What gRPC's status is in HTTP, for clients that speak no gRPC. */
const httpOfGrpc: Readonly<Record<number, number>> = {
  0: 200,
  1: 499,
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  12: 501,
  14: 503,
  16: 401,
};

function abortStatus(abort: HTTPFaultJson["abort"], headers: ReadonlyMap<string, string>): number | undefined {
  if (abort?.httpStatus !== undefined) return abort.httpStatus;
  if (abort?.grpcStatus !== undefined) {
    const isGrpc = headers.get("content-type")?.startsWith("application/grpc") === true;
    return isGrpc ? 200 : (httpOfGrpc[abort.grpcStatus] ?? 500);
  }
  const asked = Number(headers.get("x-envoy-fault-abort-request") ?? "");
  return abort?.headerAbort !== undefined && asked >= 200 && asked < 600 ? asked : undefined;
}
