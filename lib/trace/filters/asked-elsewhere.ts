import type { RouteActionJson, VirtualHostJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type {
  ExtAuthzJson,
  ExtAuthzPerRouteJson,
} from "../../../gen/envoy/extensions/filters/http/ext_authz/v3/ext_authz_pb.ts";
import type { LocalRateLimitJson } from "../../../gen/envoy/extensions/filters/http/local_ratelimit/v3/local_rate_limit_pb.ts";
import type {
  RateLimitJson,
  RateLimitPerRouteJson,
} from "../../../gen/envoy/extensions/filters/http/ratelimit/v3/rate_limit_pb.ts";
import type { ExtAuthzJson as TcpExtAuthzJson } from "../../../gen/envoy/extensions/filters/network/ext_authz/v3/ext_authz_pb.ts";
import { type End, percent } from "../decision.ts";
import { defaultPart } from "./fraction.ts";
import { metadataTruth } from "./metadata.ts";
import type { Passage } from "./passage.ts";
import type { FilterContext, Stream } from "./stream.ts";

/** Filters that ask somebody else, or count: what they do with a request is not known here. */

/** A filter that asks an external authorizer about the requests that its metadata marks, or about all. */
export function throughAuthorizer(
  config: ExtAuthzJson & TcpExtAuthzJson,
  perRoute: ExtAuthzPerRouteJson | undefined,
  stream: Stream,
  context: FilterContext,
  denial: (why: string) => End,
): Passage {
  if (perRoute?.disabled === true) return { why: "the route asks no authorizer" };
  const { filterEnabledMetadata: matcher, filterEnabled, denyAtDisable, failureModeAllow } = config;
  const part = defaultPart(filterEnabled, 1);
  const marked = matcher === undefined ? undefined : metadataTruth(matcher, stream.metadata, context);
  if (part === 0 || marked?.is === "no") {
    if (denyAtDisable?.defaultValue !== true) return { why: "the authorizer is not asked about this request" };
    const why = "the authorizer is not asked, and what it is not asked about is denied";
    return { why, ends: { part: 1, end: denial(why) } };
  }
  const { grpcService, httpService } = config;
  const service =
    httpService?.serverUri?.cluster ?? grpcService?.envoyGrpc?.clusterName ?? grpcService?.googleGrpc?.targetUri;
  const authorizer = `the external authorizer ${service ?? ""}`.trim();
  const on = [authorizer, ...(marked?.is === "depends" ? marked.on : [])];
  const open = failureModeAllow === true ? "; the request passes where that gives no answer" : "";
  const some = part < 1 ? ` about ${percent(part)} % of the requests` : "";
  const why = `${authorizer} is asked${some}${open}`;
  return { why, ends: { part: "unknown", on, end: denial(`denied by ${authorizer}`) } };
}

/** A filter that counts in this proxy. @returns undefined where it is off */
export function throughLocalLimit(config: LocalRateLimitJson): Passage | undefined {
  const { tokenBucket, descriptors = [], filterEnabled, filterEnforced, status } = config;
  const part = Math.min(defaultPart(filterEnabled, 0), defaultPart(filterEnforced, 0));
  if (tokenBucket === undefined && descriptors.length === 0) return undefined;
  if (part === 0) return { why: "the local rate limit is not enforced" };
  const { maxTokens = 0, tokensPerFill, fillInterval = "" } = tokenBucket ?? {};
  const bucket =
    tokenBucket === undefined ? "" : `${maxTokens} at once, then ${tokensPerFill ?? 1} every ${fillInterval}`;
  const kinds = descriptors.length === 0 ? "" : `${descriptors.length} descriptors`;
  const limit = `the local rate limit (${[bucket, kinds].filter(Boolean).join(", ")})`;
  const end: End = { kind: "response", status: statusOf(status?.code, 429), why: `over ${limit}` };
  return { why: `${limit} counts the request`, ends: { part: "unknown", on: [limit], end } };
}

/** What a route says for the filter that asks a rate limit service. */
export interface Limited {
  readonly host: VirtualHostJson | undefined;
  readonly action: RouteActionJson | undefined;
  readonly perRoute: RateLimitPerRouteJson | undefined;
}

/** @returns undefined where neither route nor virtual host names what is to be counted */
export function throughGlobalLimit(config: RateLimitJson, { host, action, perRoute }: Limited): Passage | undefined {
  const { domain = "", stage = 0, rateLimitedStatus, failureModeDeny } = config;
  const ofStage = [...(action?.rateLimits ?? []), ...(host?.rateLimits ?? [])].some(
    (one) => (one.stage ?? 0) === stage,
  );
  if (!ofStage && (perRoute?.rateLimits ?? []).length === 0) return undefined;
  const service = `the rate limit service for ${perRoute?.domain || domain}`;
  const closed = failureModeDeny === true ? "; the request is refused where that gives no answer" : "";
  const end: End = {
    kind: "response",
    status: statusOf(rateLimitedStatus?.code, 429),
    why: `over the limit of ${service}`,
  };
  return { why: `${service} is asked${closed}`, ends: { part: "unknown", on: [service], end } };
}

/** Statuses have names in JSON; those that limits use in practice. */
const statuses: Readonly<Record<string, number>> = {
  TooManyRequests: 429,
  ServiceUnavailable: 503,
  Forbidden: 403,
  Unauthorized: 401,
};

const statusOf = (code: unknown, otherwise: number): number =>
  typeof code === "number" ? code : (statuses[String(code)] ?? otherwise);
