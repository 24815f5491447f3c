import { formatDuration } from "../../config/duration.ts";
import type {
  CORS,
  HeaderModifier,
  HTTPHeader,
  HTTPRouteFilter,
  RequestMirror,
  RequestRedirect,
  URLRewrite,
} from "../../config/gateway-api/http-route.ts";
import type {
  CorsPolicy,
  HeaderOperations,
  Headers,
  HTTPMirrorPolicy,
  HTTPRedirect,
  HTTPRewrite,
  HTTPRoute,
  StringMatch,
} from "../../config/kinds/virtual-service.ts";
import { type Backend, backendOf, type RuleContext } from "./backends.ts";
import { type Problem, problem } from "./problem.ts";

/** What the filters of a rule come to. */
export type Filtered =
  | {
      readonly kind: "filtered";
      readonly fields: Pick<HTTPRoute, "headers" | "redirect" | "mirrors" | "rewrite" | "corsPolicy">;
      /** Of the last mirror that leads nowhere. */
      readonly problem: Problem | undefined;
    }
  | { readonly kind: "refused"; readonly problem: Problem };

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, convertHTTPRoute */
export function filtered(filters: readonly HTTPRouteFilter[], context: RuleContext): Filtered {
  const { headers, refusal } = filteredHeaders(filters.filter((filter) => !ofWholeRule.has(filter.type)));
  if (refusal !== undefined) return { kind: "refused", problem: refusal };
  const mirrors: HTTPMirrorPolicy[] = [];
  let lost: Problem | undefined;
  let fields: Pick<HTTPRoute, "redirect" | "rewrite" | "corsPolicy"> = {};
  for (const { requestRedirect, urlRewrite, cors, requestMirror } of filters) {
    if (requestRedirect !== undefined) fields = { ...fields, redirect: redirectOf(requestRedirect) };
    if (urlRewrite !== undefined) fields = { ...fields, ...rewriteOf(urlRewrite) };
    if (cors !== undefined) fields = { ...fields, corsPolicy: corsPolicyOf(cors) };
    if (requestMirror === undefined) continue;
    const backend = backendOf(requestMirror.backendRef, context);
    if (backend.kind === "found") mirrors.push(mirrorOf(requestMirror, backend));
    else if (backend.kind === "refused" && context.kind === "GRPCRoute") return backend;
    else lost = backend.problem;
    if (backend.kind === "lost" && context.kind === "GRPCRoute") return { kind: "refused", problem: backend.problem };
  }
  return {
    kind: "filtered",
    fields: { ...headers, ...fields, ...(mirrors.length === 0 ? {} : { mirrors }) },
    problem: lost,
  };
}

/** What only a rule can do, and not one of its backends. */
const ofWholeRule: ReadonlySet<string> = new Set(["RequestRedirect", "RequestMirror", "URLRewrite", "CORS"]);

/** The filters that concern headers; another one is refused. */
export function filteredHeaders(filters: readonly HTTPRouteFilter[]): {
  readonly headers: { readonly headers?: Headers };
  readonly refusal?: Problem;
} {
  let headers: Headers = {};
  for (const { type, requestHeaderModifier, responseHeaderModifier } of filters) {
    if (type === "RequestHeaderModifier") headers = { ...headers, request: operationsOf(requestHeaderModifier) };
    else if (type === "ResponseHeaderModifier")
      headers = { ...headers, response: operationsOf(responseHeaderModifier) };
    else return { headers: {}, refusal: problem("InvalidFilter", `unsupported filter type "${type}"`) };
  }
  return { headers: Object.keys(headers).length === 0 ? {} : { headers } };
}

function operationsOf({ set = [], add = [], remove = [] }: HeaderModifier = {}): HeaderOperations {
  return {
    ...(set.length === 0 ? {} : { set: byLowerName(set) }),
    ...(add.length === 0 ? {} : { add: byLowerName(add) }),
    ...(remove.length === 0 ? {} : { remove }),
  };
}

/** Of two headers whose names differ in case only the first counts. */
function byLowerName(headers: readonly HTTPHeader[]): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const { name, value } of headers) result[name.toLowerCase()] ??= value;
  return result;
}

function mirrorOf(
  { percent, fraction }: RequestMirror,
  { destination }: Extract<Backend, { kind: "found" }>,
): HTTPMirrorPolicy {
  const share = fraction === undefined ? percent : (100 * fraction.numerator) / fraction.denominator;
  return { destination, ...(share === undefined ? {} : { percentage: share === 0 ? {} : { value: share } }) };
}

function rewriteOf({ hostname, path }: URLRewrite): { readonly rewrite?: HTTPRewrite } {
  const rewrite: HTTPRewrite = {
    // Without a last slash, and `/` takes the prefix away.
    ...(path?.type === "ReplacePrefixMatch" ? { uri: (path.replacePrefixMatch ?? "").replace(/\/$/, "") || "/" } : {}),
    ...(path?.type === "ReplaceFullPath"
      ? { uriRegexRewrite: { match: "/.*", rewrite: path.replaceFullPath ?? "" } }
      : {}),
    ...(hostname === undefined ? {} : { authority: hostname }),
  };
  return Object.keys(rewrite).length === 0 ? {} : { rewrite };
}

/** Without a port, and without a scheme that has one, it is the port of the request. */
function redirectOf({ scheme, hostname, path, port, statusCode }: RequestRedirect): HTTPRedirect {
  return {
    redirectCode: statusCode,
    ...(hostname === undefined ? {} : { authority: hostname }),
    ...(scheme === undefined ? {} : { scheme }),
    ...(port === undefined
      ? { derivePort: scheme === undefined ? "FROM_REQUEST_PORT" : "FROM_PROTOCOL_DEFAULT" }
      : { port }),
    ...(path?.type === "ReplaceFullPath" ? { uri: path.replaceFullPath ?? "" } : {}),
    ...(path?.type === "ReplacePrefixMatch" ? { prefixRewrite: path.replacePrefixMatch ?? "" } : {}),
  };
}

function corsPolicyOf(cors: CORS): CorsPolicy {
  const { allowOrigins = [], allowMethods = [], allowHeaders = [], exposeHeaders = [] } = cors;
  return {
    ...(allowOrigins.length === 0 ? {} : { allowOrigins: allowOrigins.map(originMatch) }),
    ...(cors.allowCredentials === true ? { allowCredentials: true } : {}),
    ...(allowMethods.length === 0 ? {} : { allowMethods }),
    ...(allowHeaders.length === 0 ? {} : { allowHeaders }),
    ...(exposeHeaders.length === 0 ? {} : { exposeHeaders }),
    maxAge: formatDuration(BigInt(cors.maxAge) * 1_000_000_000n),
    unmatchedPreflights: "IGNORE",
  };
}

/** `*` is any origin that is one; within a name it stands for any text. */
function originMatch(origin: string): StringMatch {
  if (origin === "*") return { regex: "^[a-zA-Z][a-zA-Z0-9+.-]*://[^/\\s?#]+$" };
  if (!origin.includes("*")) return { exact: origin };
  if (origin.indexOf("*") === origin.length - 1) return { prefix: origin.slice(0, -1) };
  return { regex: `^${origin.replaceAll(/[\\.+?()|[\]{}^$]/g, "\\$&").replaceAll("*", ".*")}$` };
}
