import type { RouteMatchJson } from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import { type Metadata, metadataTruth } from "./filters/metadata.ts";
import { tooMuch, type Work } from "./filters/work.ts";
import { headerMismatch, parameterMismatch, queryOf } from "./header-match.ts";
import { comparedPath } from "./path.ts";
import { about, type Mismatch, mismatch, notFollowed, quoted, type ReadRegex, regexMismatch } from "./string-match.ts";

/** A request as its route is chosen. */
export interface RoutedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** By name in lower case, with those of HTTP/2 that begin with a colon. */
  readonly headers: ReadonlyMap<string, string>;
  readonly hasCertificate: boolean;
  /** What filters have left. */
  readonly metadata: Metadata;
  readonly work: Work;
}

export interface MatchContext {
  readonly request: RoutedRequest;
  readonly readRegex: ReadRegex;
  readonly ignoresPathParameters: boolean;
}

/**
 * Why a route does not take a request; undefined where it does, but for its fraction.
 *
 * @see envoy 1.40.0 source/common/router/config_impl.cc, matchRoute
 */
export function routeMismatch(match: RouteMatchJson, context: MatchContext): Mismatch | undefined {
  const found = [...mismatchesOf(match, context)];
  // What is certain decides, whatever else there is.
  return found.find(({ isCertain }) => isCertain) ?? found[0];
}

function* mismatchesOf(match: RouteMatchJson, context: MatchContext): Generator<Mismatch> {
  const { request, readRegex } = context;
  if (!request.work.spend()) yield { why: `it is behind ${tooMuch}`, isCertain: false };
  const { headers = [], queryParameters = [], grpc, tlsContext, dynamicMetadata = [] } = match;
  const query = queryOf(request.path);
  const all = [
    pathMismatch(match, context),
    ...headers.map((matcher) => headerMismatch(matcher, request.headers, readRegex)),
    ...queryParameters.map((matcher) => parameterMismatch(matcher, query, readRegex)),
  ];
  for (const one of all) if (one !== undefined) yield one;
  if (grpc !== undefined && !isGrpc(request)) yield mismatch("it is for gRPC only");
  if (tlsContext?.presented !== undefined && tlsContext.presented !== request.hasCertificate)
    yield mismatch(`it is for clients ${tlsContext.presented ? "with" : "without"} a certificate`);
  for (const matcher of dynamicMetadata) {
    const truth = metadataTruth(matcher, request.metadata, { readRegex, work: request.work });
    if (truth.is === "no") yield mismatch(truth.why);
    if (truth.is === "depends") yield { why: `it depends on ${truth.on.join(", ")}`, isCertain: false };
  }
}

function pathMismatch(match: RouteMatchJson, context: MatchContext): Mismatch | undefined {
  const { request, readRegex, ignoresPathParameters } = context;
  const { prefix, path, safeRegex, connectMatcher, pathSeparatedPrefix, pathMatchPolicy, caseSensitive = true } = match;
  if (connectMatcher !== undefined)
    return request.method === "CONNECT" ? undefined : mismatch("it is for CONNECT only");
  const has = comparedPath(request.path, ignoresPathParameters);
  const fold = (text: string) => (caseSensitive ? text : text.toLowerCase());
  const unless = (matches: boolean, why: string) => (matches ? undefined : mismatch(why));
  if (prefix !== undefined)
    return unless(fold(has).startsWith(fold(prefix)), `path does not begin with ${quoted(prefix)}`);
  if (path !== undefined) return unless(fold(has) === fold(path), `path is not ${quoted(path)}`);
  if (safeRegex !== undefined) return about("path", regexMismatch(safeRegex.regex ?? "", has, readRegex));
  if (pathSeparatedPrefix !== undefined) {
    const [one, wanted] = [fold(has), fold(pathSeparatedPrefix)];
    return unless(one === wanted || one.startsWith(`${wanted}/`), `path is not below ${quoted(pathSeparatedPrefix)}`);
  }
  return pathMatchPolicy === undefined ? undefined : notFollowed("path is matched by an extension");
}

function isGrpc({ headers }: RoutedRequest): boolean {
  const type = headers.get("content-type");
  return type === "application/grpc" || type?.startsWith("application/grpc+") === true;
}
