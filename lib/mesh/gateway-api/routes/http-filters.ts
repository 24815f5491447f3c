import { formatDuration } from "../../../base/duration.ts";
import type {
  CORS,
  HeaderModifier,
  HTTPHeader,
  HTTPRouteFilter,
  RequestMirror,
  RequestRedirect,
  URLRewrite,
} from "../../../config/gateway-api/http-route.ts";
import type {
  CorsPolicy,
  HeaderOperations,
  Headers,
  HTTPMirrorPolicy,
  HTTPRedirect,
  HTTPRewrite,
  HTTPRoute,
  StringMatch,
} from "../../../config/kinds/virtual-service.ts";
import { type Backend, backendOf, type RuleContext } from "../backends/backends.ts";
import { type Problem, problem } from "../problem.ts";

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
  const mirrors: HTTPMirrorPolicy[] = [];
  let lost: Problem | undefined;
  let fields: Pick<HTTPRoute, "headers" | "redirect" | "rewrite" | "corsPolicy"> = {};
  for (const filter of filters) {
    const { requestRedirect, urlRewrite, cors, requestMirror } = filter;
    if (requestRedirect !== undefined) fields = { ...fields, redirect: redirectOf(requestRedirect) };
    else if (urlRewrite !== undefined) fields = { ...fields, ...rewriteOf(urlRewrite) };
    else if (cors !== undefined) fields = { ...fields, corsPolicy: corsPolicyOf(cors) };
    else if (requestMirror !== undefined) {
      const backend = backendOf(requestMirror.backendRef, context);
      if (backend.kind === "found") mirrors.push(mirrorOf(requestMirror, backend));
      // A call that cannot be mirrored refuses the route, a request does not.
      else if (context.kind === "GRPCRoute") return { kind: "refused", problem: backend.problem };
      else lost = backend.problem;
    } else {
      const { headers, refusal } = withHeaders(fields.headers ?? {}, filter);
      if (refusal !== undefined) return { kind: "refused", problem: refusal };
      fields = { ...fields, headers };
    }
  }
  return { kind: "filtered", fields: { ...fields, ...(mirrors.length === 0 ? {} : { mirrors }) }, problem: lost };
}

/** The filters of a backend concern headers; another one is refused. */
export function filteredHeaders(filters: readonly HTTPRouteFilter[]): {
  readonly headers: { readonly headers?: Headers };
  readonly refusal?: Problem;
} {
  let headers: Headers = {};
  for (const filter of filters) {
    const made = withHeaders(headers, filter);
    if (made.refusal !== undefined) return { headers: {}, refusal: made.refusal };
    headers = made.headers;
  }
  return { headers: Object.keys(headers).length === 0 ? {} : { headers } };
}

function withHeaders(
  headers: Headers,
  { type, requestHeaderModifier, responseHeaderModifier }: HTTPRouteFilter,
): { readonly headers: Headers; readonly refusal?: Problem } {
  if (type === "RequestHeaderModifier")
    return { headers: { ...headers, request: operationsOf(requestHeaderModifier) } };
  if (type === "ResponseHeaderModifier")
    return { headers: { ...headers, response: operationsOf(responseHeaderModifier) } };
  return { headers, refusal: problem("InvalidFilter", `unsupported filter type "${type}"`) };
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
  const result = new Map<string, string>();
  for (const { name, value } of headers) {
    const lower = name.toLowerCase();
    if (!result.has(lower)) result.set(lower, value);
  }
  return Object.fromEntries(result);
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
