import type {
  JwtAuthenticationJson,
  JwtProviderJson,
  JwtRequirementJson,
  PerRouteConfigJson,
} from "../../../gen/envoy/extensions/filters/http/jwt_authn/v3/config_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { Behind } from "../decision.ts";
import { routeMismatch } from "../route-match.ts";
import { isPreflight } from "./cors.ts";
import { jwtNamespace, type Left, memberOf, withMetadata } from "./metadata.ts";
import type { Passage } from "./passage.ts";
import { type FilterContext, routedRequest, type Stream } from "./stream.ts";
import {
  type Claims,
  claimsIn,
  claimsProblem,
  expiryOf,
  keysProblem,
  placesOf,
  type Token,
  type TokenPlace,
  type TokenProblem,
  tokenAt,
  tokenOf,
  withToken,
} from "./token.ts";
import { maxDepth, tooMuch } from "./work.ts";

/** How a requirement comes out. */
type Verified =
  | { readonly kind: "good"; readonly why: string; readonly on: readonly string[] }
  | { readonly kind: "missing" }
  | { readonly kind: "refused"; readonly problem: TokenProblem }
  | { readonly kind: "unknown"; readonly on: readonly string[] };

/** What verifying changes, in order. */
interface Verifying {
  readonly config: JwtAuthenticationJson;
  readonly context: FilterContext;
  /** A token that somebody vouches for. */
  readonly given: string | undefined;
  readonly headers: Map<string, string>;
  readonly payloads: Map<string, Left>;
  /** Providers that have verified a token. */
  readonly used: JwtProviderJson[];
}

/**
 * What the filter for JSON web tokens does with a request. Signatures and times are not checked: a token that the request carries is good
 * if they are, which its way then depends on; claims that are given are taken for those of a good one.
 *
 * @see envoy 1.40.0 source/extensions/filters/http/jwt_authn/verifier.cc
 */
export function throughJwt(
  config: JwtAuthenticationJson,
  perRoute: PerRouteConfigJson | undefined,
  stream: Stream,
  context: FilterContext,
): Passage | undefined {
  if (perRoute?.disabled === true) return { why: "the route asks for no token" };
  if (config.bypassCorsPreflight === true && isPreflight(stream.headers))
    return { why: "a preflight request of CORS needs no token" };
  const asked = requirementOf(config, perRoute, stream, context);
  if ("passage" in asked) return asked.passage;
  const claims = context.request.http?.claims;
  const given = claims && tokenOf(claims);
  const providers = Object.values(config.providers ?? {});
  const verifying: Verifying = {
    config,
    context,
    given,
    headers: given === undefined ? new Map(stream.headers) : withToken(stream.headers, providers, given),
    payloads: new Map(),
    used: [],
  };
  const found = verify(asked.requirement, verifying, 0);
  const behind = behindProviders(config);
  if (found.kind === "unknown") {
    const why = `it depends on ${found.on.join(", ")}`;
    return { why, behind, ends: { part: "unknown", on: found.on, end: { kind: "response", status: 401, why } } };
  }
  if (found.kind === "missing") {
    const why = "the request has no token, and one is required";
    return { why, behind, ends: { part: 1, end: { kind: "response", status: 401, why } } };
  }
  if (found.kind === "refused") {
    const { why, status } = found.problem;
    return { why, behind, ends: { part: 1, end: { kind: "response", status, why } } };
  }
  const next = nextStream(stream, verifying);
  const reroutes = verifying.used.some(({ clearRouteCache }) => clearRouteCache === true);
  const passed = { why: found.why, next, reroutes, behind };
  if (found.on.length === 0) return passed;
  const why = `it depends on ${found.on.join(", ")}`;
  return { ...passed, ends: { part: "unknown", on: found.on, end: { kind: "response", status: 401, why } } };
}

function nextStream(stream: Stream, { headers, payloads }: Verifying): Stream {
  const metadata = payloads.size === 0 ? stream.metadata : withMetadata(stream.metadata, jwtNamespace, payloads);
  return { ...stream, headers, metadata };
}

type Asked = { readonly requirement: JwtRequirementJson } | { readonly passage: Passage | undefined };

/** The first rule that matches decides; a route may name another requirement. */
function requirementOf(
  config: JwtAuthenticationJson,
  perRoute: PerRouteConfigJson | undefined,
  stream: Stream,
  context: FilterContext,
): Asked {
  const { readRegex, work } = context;
  const { rules = [], requirementMap = {}, filterStateRules } = config;
  const named = (name: string): Asked => {
    const requirement = requirementMap[name];
    if (requirement !== undefined) return { requirement };
    const why = `there is no requirement ${name}`;
    return { passage: { why, ends: { part: 1, end: { kind: "response", status: 403, why } } } };
  };
  if (perRoute?.requirementName) return named(perRoute.requirementName);
  const request = routedRequest(stream, context);
  for (const { match = {}, requires, requirementName } of rules) {
    const found = work.spend()
      ? routeMismatch(match, { request, readRegex, ignoresPathParameters: false })
      : { why: tooMuch, isCertain: false };
    if (found?.isCertain === true) continue;
    if (found !== undefined) {
      const why = `whether a token is asked for is not followed here: ${found.why}`;
      return { passage: { why, ends: { part: "unknown", on: [why], end: { kind: "response", status: 401, why } } } };
    }
    if (requirementName) return named(requirementName);
    return requires === undefined ? { passage: { why: "no token is asked for here" } } : { requirement: requires };
  }
  if (filterStateRules === undefined) return { passage: undefined };
  const why = "its rules by filter state are not followed here";
  return { passage: { why, ends: { part: "unknown", on: [why], end: { kind: "response", status: 401, why } } } };
}

function verify(requirement: JwtRequirementJson, state: Verifying, depth: number): Verified {
  if (depth > maxDepth || !state.context.work.spend()) return { kind: "unknown", on: [tooMuch] };
  const { providerName, providerAndAudiences, requiresAny, requiresAll, allowMissing, allowMissingOrFailed } =
    requirement;
  if (providerName !== undefined) return byProvider(providerName, [], state);
  if (providerAndAudiences !== undefined)
    return byProvider(providerAndAudiences.providerName ?? "", providerAndAudiences.audiences ?? [], state);
  if (requiresAny !== undefined) return verifyAny(requiresAny.requirements ?? [], state, depth);
  if (requiresAll !== undefined) return verifyAll(requiresAll.requirements ?? [], state, depth);
  if (allowMissing !== undefined) return byAny(state);
  if (allowMissingOrFailed !== undefined) return orFailed(byAny(state));
  return noToken;
}

const noToken = { kind: "good", why: "the request has no token, and needs none", on: [] } as const;

const orFailed = (found: Verified): Verified =>
  found.kind === "refused" ? { ...noToken, why: `${found.problem.why}; a bad token is as good as none` } : found;

/** One is enough; of those that fail, a token that is bad counts most, then one of another issuer, then one that is missing. */
function verifyAny(requirements: readonly JwtRequirementJson[], state: Verifying, depth: number): Verified {
  const regular = requirements.filter((one) => (one.allowMissing ?? one.allowMissingOrFailed) === undefined);
  const allowsMissing = requirements.some((one) => one.allowMissing !== undefined);
  const allowsFailed = requirements.some((one) => one.allowMissingOrFailed !== undefined);
  if (regular.length === 0 && (allowsMissing || allowsFailed))
    return allowsFailed ? orFailed(byAny(state)) : byAny(state);
  let worst: Verified = { kind: "missing" };
  for (const one of regular) {
    const found = verify(one, state, depth + 1);
    if (found.kind === "good" || found.kind === "unknown") return found;
    if ((found.kind === "refused" && !found.problem.isOfAnother) || worst.kind === "missing") worst = found;
  }
  if (allowsFailed) return worst.kind === "missing" ? noToken : orFailed(worst);
  return allowsMissing && worst.kind === "missing" ? noToken : worst;
}

function verifyAll(requirements: readonly JwtRequirementJson[], state: Verifying, depth: number): Verified {
  let all: Verified & { readonly kind: "good" } = noToken;
  for (const one of requirements) {
    const found = verify(one, state, depth + 1);
    if (found.kind !== "good") return found;
    if (found.why !== noToken.why) all = { kind: "good", why: found.why, on: [...all.on, ...found.on] };
  }
  return all;
}

function byProvider(name: string, audiences: readonly string[], state: Verifying): Verified {
  const provider = state.config.providers?.[name];
  if (provider === undefined) return { kind: "unknown", on: [`the provider ${name}, which is not there`] };
  for (const header of ownHeaders(provider)) state.headers.delete(header);
  const tokens = placesOf(provider).flatMap((place) => tokenAt(place, state.headers) ?? []);
  let found: Verified = { kind: "missing" };
  // All of them have to be good.
  for (const token of tokens.toReversed()) {
    found = verifyToken(provider, token, audiences, state);
    if (found.kind !== "good") return found;
  }
  return found;
}

/** Without a token in any place of any provider it is good; those that are there are judged by their issuers, and the first decides. */
function byAny(state: Verifying): Verified {
  const providers = Object.values(state.config.providers ?? {});
  const places = new Map<string, { readonly place: TokenPlace; readonly of: JwtProviderJson[] }>();
  for (const provider of providers) {
    for (const header of ownHeaders(provider)) state.headers.delete(header);
    for (const place of placesOf(provider)) {
      const known = places.get(place.key) ?? { place, of: [] };
      known.of.push(provider);
      places.set(place.key, known);
    }
  }
  const sorted = [...places.values()].sort((a, b) => byCodePoint(a.place.key, b.place.key));
  const tokens = sorted.flatMap(({ place, of }) => {
    const token = tokenAt(place, state.headers);
    return token === undefined ? [] : [{ token, of }];
  });
  let found: Verified = noToken;
  for (const { token, of } of tokens.toReversed()) {
    if (!state.context.work.spend(providers.length)) return { kind: "unknown", on: [tooMuch] };
    const issuer = claimsIn(token.text)?.iss;
    const isOwn = (one: JwtProviderJson) => (one.issuer ?? "") === issuer;
    const isForAll = (one: JwtProviderJson) => (one.issuer ?? "") === "";
    // A place is for the issuers of the providers that look there; who judges is found among all of them.
    const isAllowed = of.some((one) => isOwn(one) || isForAll(one));
    const judge = isAllowed ? (providers.find(isOwn) ?? providers.find(isForAll)) : of[0];
    if (judge !== undefined) found = verifyToken(judge, token, [], state);
  }
  return found;
}

/** Headers that only the filter may write. */
const ownHeaders = ({ forwardPayloadHeader = "", claimToHeaders = [] }: JwtProviderJson): readonly string[] =>
  [forwardPayloadHeader, ...claimToHeaders.map(({ headerName = "" }) => headerName)].map((name) => name.toLowerCase());

function verifyToken(
  provider: JwtProviderJson,
  token: Token,
  audiences: readonly string[],
  state: Verifying,
): Verified {
  const claims = claimsIn(token.text);
  const refused = (problem: TokenProblem): Verified => ({ kind: "refused", problem });
  if (claims === undefined)
    return refused({ why: "the request's token is no signed JSON web token", status: 401, isOfAnother: false });
  const problem = claimsProblem(provider, claims, audiences, state.context.readRegex);
  if (problem !== undefined) return refused(problem);
  const ofKeys = keysProblem(provider, token.text);
  // Claims that are given stand for a token that is signed as it should be, where any could be.
  if (ofKeys !== undefined) return refused(ofKeys);
  const issuer = provider.issuer === undefined ? "" : ` of ${provider.issuer}`;
  accept(provider, token, claims, state);
  if (token.text === state.given)
    return { kind: "good", why: `a token${issuer} with the given claims is good`, on: [] };
  const expiry = expiryOf(claims);
  const until = expiry === undefined ? "" : `, which expires at ${expiry}`;
  const on = [`the signature and the times of the request's token${issuer}${until}`];
  return { kind: "good", why: `the token${issuer} is good, if its signature and times are`, on };
}

/** What Envoy writes for those behind when a token is good. */
function accept(provider: JwtProviderJson, token: Token, claims: Claims, state: Verifying): void {
  const { forward = false, forwardPayloadHeader = "", claimToHeaders = [], payloadInMetadata = "" } = provider;
  const { headers } = state;
  if (forwardPayloadHeader !== "") headers.set(forwardPayloadHeader.toLowerCase(), token.text.split(".")[1] ?? "");
  for (const { headerName = "", claimName = "" } of claimToHeaders) {
    const value = claimName.split(".").reduce<unknown>(memberOf, claims);
    if (/^(?:string|number|boolean)$/.test(typeof value) && value !== "")
      headers.set(headerName.toLowerCase(), String(value));
  }
  if (!forward && token.header !== undefined) headers.delete(token.header);
  if (!forward && token.parameter !== undefined) {
    const [path = "", query = ""] = (headers.get(":path") ?? "").split("?", 2);
    const kept = query.split("&").filter((pair) => pair.split("=", 1)[0] !== token.parameter);
    headers.set(":path", kept.length === 0 ? path : `${path}?${kept.join("&")}`);
  }
  if (payloadInMetadata !== "")
    state.payloads.set(payloadInMetadata, { kind: "known", value: normalized(provider, claims) });
  state.used.push(provider);
}

/** Claims that are lists written with spaces become lists. */
function normalized({ normalizePayloadInMetadata }: JwtProviderJson, claims: Claims): Claims {
  const spaced = new Set(normalizePayloadInMetadata?.spaceDelimitedClaims ?? []);
  const entries = Object.entries(claims).map(([name, value]) => [
    name,
    spaced.has(name) && typeof value === "string" ? value.split(" ").filter(Boolean) : value,
  ]);
  return Object.fromEntries(entries);
}

function behindProviders({ providers = {} }: JwtAuthenticationJson): readonly Behind[] {
  const issuers = new Set(Object.values(providers).map(({ issuer = "" }) => issuer));
  return [...issuers].slice(0, maxIssuers).map((issuer) => ({ kind: "issuer", issuer }));
}

const maxIssuers = 20;
