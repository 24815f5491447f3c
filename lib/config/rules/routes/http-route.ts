import { error, type Finding, type Path, warning } from "../../finding.ts";
import type {
  HTTPMatchRequest,
  HTTPRedirect,
  HTTPRewrite,
  HTTPRoute,
  StringMatch,
} from "../../kinds/virtual-service.ts";
import { gatewayNameRules } from "../gateways/gateway-names.ts";
import { regexRules } from "../regex.ts";
import { dnsLabelRules, each, labelSetRules, portRules } from "../values.ts";
import { headerNameRules, headersRules, isAuthorityHeader, isJwtClaimKey } from "./header-rules.ts";
import { corsRules, directResponseRules, faultRules, mirrorRules } from "./http-route-extras.ts";
import { retryRules } from "./retry.ts";
import { destinationRules, weightRules } from "./route-destination.ts";

export interface RouteContext {
  /** Routes of a VirtualService without hosts. */
  readonly isDelegate: boolean;
  /** Not for the mesh. */
  readonly boundToGateway: boolean;
}

/** @see docs/how-istio-does-it/kind-rules.md#virtualservice */
export function* httpRouteRules(route: HTTPRoute, path: Path, context: RouteContext): Generator<Finding> {
  yield* shapeRules(route, path, context);
  yield* each(route.match, [...path, "match"], (match, at) => matchRules(match, at, context));
  yield* each(route.route, [...path, "route"], function* (entry, at) {
    yield* destinationRules(entry.destination, [...at, "destination"]);
    yield* headersRules(entry.headers, [...at, "headers"]);
  });
  yield* weightRules(route.route ?? [], [...path, "route"]);
  yield* headersRules(route.headers, [...path, "headers"]);
  yield* authorityRules(route, path);
  yield* redirectRules(route.redirect, [...path, "redirect"], route.match ?? []);
  yield* rewriteRules(route.rewrite, [...path, "rewrite"]);
  yield* directResponseRules(route.directResponse, [...path, "directResponse"]);
  yield* retryRules(route.retries, [...path, "retries"]);
  yield* faultRules(route.fault, [...path, "fault"]);
  yield* mirrorRules(route, path);
  yield* corsRules(route.corsPolicy, [...path, "corsPolicy"]);
  for (const name of ["websocketUpgrade", "appendHeaders", "removeResponseHeaders"] as const) {
    if (route[name] === undefined) continue;
    const hint = name === "websocketUpgrade" ? "upgrades are always allowed" : "use headers";
    yield warning([...path, name], "is release 0.8's, and has an effect on the v1 API only", hint);
  }
}

/** What a route does: which of its actions exclude each other. */
function* shapeRules(route: HTTPRoute, path: Path, context: RouteContext): Generator<Finding> {
  const conflict = (name: string, other: string) =>
    error([...path, name], `${name} and ${other} exclude each other`, "keep one of them", "conflicting-fields");
  if (route.delegate !== undefined) {
    if (context.isDelegate) yield error([...path, "delegate"], "a delegate cannot delegate any further");
    for (const name of ["route", "redirect"] as const) if (route[name] !== undefined) yield conflict(name, "delegate");
    return;
  }
  if (route.redirect !== undefined) {
    for (const name of ["route", "fault", "rewrite", "directResponse"] as const) {
      if (route[name] !== undefined) yield conflict(name, "redirect");
    }
  } else if (route.directResponse !== undefined) {
    for (const name of ["route", "fault", "rewrite"] as const) {
      if (route[name] !== undefined) yield conflict(name, "directResponse");
    }
  } else if (route.route === undefined) {
    yield error(path, "has no action", "give one of route, redirect, directResponse and delegate", "missing-field");
  }
}

function* matchRules(match: HTTPMatchRequest, path: Path, context: RouteContext): Generator<Finding> {
  for (const name of ["headers", "withoutHeaders"] as const) {
    for (const [header, value] of Object.entries(match[name] ?? {})) {
      const at = [...path, name, header];
      if (isJwtClaimKey(header) && !context.boundToGateway) {
        yield error(at, "claims of a token can be matched at gateways only", "bind the VirtualService to a gateway");
      }
      yield* headerNameRules(header, at);
      if (name === "headers") yield* stringMatchRules(value, at);
      else if (value.regex !== undefined && value.regex !== "*") yield* regexRules(value.regex, [...at, "regex"]);
    }
  }
  if (match.uri?.regex !== undefined) yield* regexRules(match.uri.regex, [...path, "uri", "regex"]);
  for (const name of ["scheme", "method", "authority"] as const) yield* stringMatchRules(match[name], [...path, name]);
  for (const [name, value] of Object.entries(match.queryParams ?? {})) {
    yield* stringMatchRules(value, [...path, "queryParams", name]);
  }
  if (match.port !== undefined) yield* portRules(match.port, [...path, "port"]);
  yield* labelSetRules(match.sourceLabels, [...path, "sourceLabels"]);
  yield* gatewayNameRules(match.gateways ?? [], [...path, "gateways"]);
  if (match.sourceNamespace !== undefined) yield* dnsLabelRules(match.sourceNamespace, [...path, "sourceNamespace"]);
  const given = (["uri", "scheme", "method", "authority"] as const).filter((name) => match[name] !== undefined);
  for (const name of given) yield* oneofRules(match[name], [...path, name]);
}

function* oneofRules(match: StringMatch | undefined, path: Path): Generator<Finding> {
  if (match !== undefined && Object.keys(match).length > 1) {
    yield error(path, "only one of exact, prefix and regex may be given", "", "conflicting-fields");
  }
}

/** Full check of a text match; an absent one is right. */
function* stringMatchRules(match: StringMatch | undefined, path: Path): Generator<Finding> {
  if (match?.prefix === "") yield error([...path, "prefix"], "must not be empty");
  if (match?.regex !== undefined) yield* regexRules(match.regex, [...path, "regex"]);
}

/** The authority of a route may be replaced in one place only; its destinations may replace it once more, each for itself. */
function* authorityRules({ rewrite, headers }: HTTPRoute, path: Path): Generator<Finding> {
  const { set = {}, add = {} } = headers?.request ?? {};
  const inHeaders = [...Object.keys(set), ...Object.keys(add)].filter(isAuthorityHeader).length;
  if (inHeaders + (rewrite?.authority === undefined ? 0 : 1) > 1) {
    const hint = "keep one of rewrite.authority and the headers";
    yield error(path, "the authority is set more than once", hint, "conflicting-fields");
  }
}

function* redirectRules(
  redirect: HTTPRedirect | undefined,
  path: Path,
  matches: readonly HTTPMatchRequest[],
): Generator<Finding> {
  if (redirect === undefined) return;
  const { uri, prefixRewrite, authority, port, derivePort, scheme, redirectCode } = redirect;
  if (uri !== undefined && prefixRewrite !== undefined) {
    yield error(path, "uri and prefixRewrite exclude each other", "keep one of them", "conflicting-fields");
  } else if (
    prefixRewrite !== undefined &&
    matches.some((match) => match.uri !== undefined && match.uri.prefix === undefined)
  ) {
    yield error([...path, "prefixRewrite"], "needs matches by prefix");
  } else if ([uri, prefixRewrite, authority, port ?? derivePort, scheme].every((part) => (part ?? "") === "")) {
    // A status alone redirects nowhere.
    yield error(path, "changes nothing", "give at least one of uri, authority, port and scheme", "missing-field");
  } else if (redirectCode !== undefined && (redirectCode < 300 || redirectCode > 399)) {
    yield error([...path, "redirectCode"], `${redirectCode} is not between 300 and 399`);
  } else if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
    yield error([...path, "scheme"], `${JSON.stringify(scheme)} is neither http nor https`);
  } else if (port !== undefined) yield* portRules(port, [...path, "port"]);
  if (port !== undefined && derivePort !== undefined) {
    yield error(path, "port and derivePort exclude each other", "keep one of them", "conflicting-fields");
  }
}

function* rewriteRules(rewrite: HTTPRewrite | undefined, path: Path): Generator<Finding> {
  if (rewrite === undefined) return;
  const { uri, authority, uriRegexRewrite } = rewrite;
  if (uri !== undefined && uriRegexRewrite !== undefined) {
    yield error(path, "uri and uriRegexRewrite exclude each other", "keep one of them", "conflicting-fields");
  }
  if (uri === undefined && authority === undefined && uriRegexRewrite === undefined) {
    yield error(path, "changes nothing", "give one of uri, uriRegexRewrite and authority", "missing-field");
  }
  if (uriRegexRewrite === undefined) return;
  if (uriRegexRewrite.match === undefined || uriRegexRewrite.rewrite === undefined) {
    yield error([...path, "uriRegexRewrite"], "needs both match and rewrite", "", "missing-field");
  } else yield* regexRules(uriRegexRewrite.match, [...path, "uriRegexRewrite", "match"]);
}
