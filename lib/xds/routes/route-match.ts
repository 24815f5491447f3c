import type {
  HeaderMatcherJson,
  QueryParameterMatcherJson,
  RouteMatchJson,
} from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { MetadataMatcherJson } from "../../../gen/envoy/type/matcher/v3/metadata_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { HTTPMatchRequest, StringMatch } from "../../config/kinds/virtual-service.ts";
import { matchesPresence, stringMatcher } from "./actions/string-match.ts";

/**
 * Translates one match of a VirtualService; none matches everything.
 * Header matchers are sorted by name and followed by those of pseudo headers, query parameters are sorted by name.
 *
 * @param separatesPaths a prefix ends at a `/` or at the end of the path, as Ingress and the Gateway API mean it
 * @see docs/how-istio-does-it/routes.md#matches
 */
export function routeMatch(match: HTTPMatchRequest | undefined, separatesPaths: boolean): RouteMatchJson {
  if (match === undefined) return { prefix: "/" };
  const headers = headerMatchers(match);
  const queryParameters = queryParameterMatchers(match);
  const dynamicMetadata = claimMatchers(match);
  const envoyMatch = pathSpecifier(match.uri, separatesPaths);
  envoyMatch.caseSensitive = match.ignoreUriCase !== true;
  if (headers.length > 0) envoyMatch.headers = headers;
  if (queryParameters.length > 0) envoyMatch.queryParameters = queryParameters;
  if (dynamicMetadata.length > 0) envoyMatch.dynamicMetadata = dynamicMetadata;
  return envoyMatch;
}

/** True for a match that lets every request through, so that nothing behind it is ever reached. */
export function isCatchAll(match: RouteMatchJson): boolean {
  const anyPath = match.prefix === "/" || match.pathSeparatedPrefix === "/" || match.safeRegex?.regex === ".*";
  return (
    anyPath && match.headers === undefined && match.queryParameters === undefined && match.dynamicMetadata === undefined
  );
}

function pathSpecifier(uri: StringMatch | undefined, separatesPaths: boolean): RouteMatchJson {
  if (uri?.exact !== undefined) return { path: uri.exact };
  if (uri?.regex !== undefined) return { safeRegex: { regex: uri.regex } };
  const prefix = uri?.prefix ?? "/";
  if (separatesPaths && prefix !== "/") return { pathSeparatedPrefix: prefix.replace(/\/$/, "") };
  return { prefix };
}

type NamedMatch = readonly [name: string, match: StringMatch];

function headerMatchers(match: HTTPMatchRequest): HeaderMatcherJson[] {
  // Most matches are about paths alone.
  const { headers, withoutHeaders, method, authority, scheme } = match;
  if ((headers ?? withoutHeaders ?? method ?? authority ?? scheme) === undefined) return [];
  const sorted: HeaderMatcherJson[] = [];
  for (const [name, value] of plainHeaders(headers)) sorted.push(headerMatcher(name, value));
  for (const [name, value] of plainHeaders(withoutHeaders)) sorted.push(invertedHeaderMatcher(name, value));
  sorted.sort((a, b) => byCodePoint(a.name ?? "", b.name ?? ""));
  if (method !== undefined) sorted.push(headerMatcher(":method", method));
  if (authority !== undefined) sorted.push(headerMatcher(":authority", authority));
  if (scheme !== undefined) sorted.push(headerMatcher(":scheme", scheme));
  return sorted;
}

function headerMatcher(name: string, match: StringMatch): HeaderMatcherJson {
  const stringMatch = matchesPresence(match) ? undefined : stringMatcher(match);
  return stringMatch === undefined ? { name, presentMatch: true } : { name, stringMatch };
}

/** A header that is not there passes a matcher on its value too, so it must count as empty; presence needs no such help. */
function invertedHeaderMatcher(name: string, match: StringMatch): HeaderMatcherJson {
  const matcher = headerMatcher(name, match);
  matcher.invertMatch = true;
  if (!matchesPresence(match)) matcher.treatMissingHeaderAsEmpty = true;
  return matcher;
}

function queryParameterMatchers(match: HTTPMatchRequest): QueryParameterMatcherJson[] {
  if (match.queryParams === undefined) return [];
  return Object.entries(match.queryParams)
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([name, value]) => headerMatcher(name, value));
}

function plainHeaders(headers: Readonly<Record<string, StringMatch>> | undefined): readonly NamedMatch[] {
  if (headers === undefined) return [];
  return Object.entries(headers).filter(([name]) => claimPath(name) === undefined);
}

function claimMatchers(match: HTTPMatchRequest): MetadataMatcherJson[] {
  const { headers, withoutHeaders } = match;
  const matchers = claimEntries(headers).map(claimMatcher);
  for (const entry of claimEntries(withoutHeaders)) matchers.push({ ...claimMatcher(entry), invert: true });
  return matchers;
}

type ClaimMatch = readonly [path: readonly string[], match: StringMatch];

function claimEntries(headers: Readonly<Record<string, StringMatch>> | undefined): ClaimMatch[] {
  // Hardly anybody asks for claims.
  if (headers === undefined || !Object.keys(headers).some((name) => name.startsWith("@"))) return [];
  return Object.entries(headers)
    .sort(([a], [b]) => byCodePoint(a, b))
    .flatMap(([name, match]): ClaimMatch[] => {
      const path = claimPath(name);
      return path === undefined ? [] : [[path, match]];
    });
}

/** A claim may be a text or a list of texts, one of which has to match. */
function claimMatcher([path, match]: ClaimMatch): MetadataMatcherJson {
  const text = { stringMatch: stringMatcher(match) ?? {} };
  return {
    filter: "envoy.filters.http.jwt_authn",
    path: ["payload", ...path].map((key) => ({ key })),
    value: { orMatch: { valueMatchers: [{ listMatch: { oneOf: text } }, text] } },
  };
}

const claimHeader = "@request.auth.claims";

/** Path of the claim that a header name stands for: `@request.auth.claims.a.b` and `@request.auth.claims[a][b]`. */
function claimPath(name: string): readonly string[] | undefined {
  if (!name.startsWith("@") || !name.toLowerCase().startsWith(claimHeader)) return undefined;
  const rest = name.slice(claimHeader.length);
  if (rest.startsWith(".") && rest.length > 1) return rest.slice(1).split(".");
  if (rest.startsWith("[") && rest.endsWith("]") && rest.length > 2) return rest.slice(1, -1).split("][");
  return undefined;
}
