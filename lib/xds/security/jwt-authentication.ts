/**
 * RequestAuthentications of a workload as one JWT filter. A request with a bad token is refused. One without a token passes, unless a rule
 * says `presence: REQUIRED` or an AuthorizationPolicy asks for a principal.
 * @see docs/how-istio-does-it/security.md#request-authentication
 */
import {
  type JwtAuthenticationJson,
  type JwtProviderJson,
  JwtProviderSchema,
  type JwtRequirementJson,
} from "../../../gen/envoy/extensions/filters/http/jwt_authn/v3/config_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { byCodePoint, type Diagnostic, type Stage } from "../../base/diagnostic.ts";
import { unreachableKeys } from "../../base/unreachable-keys.ts";
import { type Config, writtenPath } from "../../config/config.ts";
import { isStandIn } from "../../config/fail-closed/closed-object.ts";
import { isLeftToProxies, keyServerOf, remoteKeysAnnotation } from "../../config/kinds/remote-keys.ts";
import type { JWTRule, RequestAuthentication } from "../../config/kinds/request-authentication.ts";
import { messageProblem } from "../../descriptors/messages.ts";
import { keyHostNamespaces } from "../../mesh/hosts/key-host-namespaces.ts";
import { packAny } from "../core-messages.ts";
import { jwtProviderName, keyServerCluster } from "../names.ts";
import { type ProviderLookups, providerCluster } from "../telemetry/provider-cluster.ts";
import { jwtFilter, jwtPayload } from "./metadata-match.ts";

/** Claims that are lists written with spaces, whatever a rule adds. */
const spaceDelimitedClaims = ["permission", "scope"];

/** What the filter of one class depends on beside its policies. */
export interface TokenOptions {
  /** True at gateways, whose routes may ask for claims. */
  readonly clearsRouteCache: boolean;
  /** Where the services of a `jwksUri` are found, so that the proxy fetches the keys itself; undefined: nobody fetches. */
  readonly keySets: ProviderLookups | undefined;
}

/** @returns undefined without any rule; a warning for keys that nobody can get */
export function jwtAuthentication(
  policies: readonly Config<RequestAuthentication>[],
  options: TokenOptions,
): Stage<HttpFilterJson | undefined> {
  const rules = policies
    .flatMap((policy) => (policy.spec.jwtRules ?? []).map((rule, index) => ({ policy, rule, index })))
    .map((found) => ({ ...found, ...providerOf(found.rule, found.policy, options) }))
    .sort((a, b) => byCodePoint(a.rule.issuer ?? "", b.rule.issuer ?? ""));
  if (rules.length === 0) return { value: undefined, diagnostics: [] };
  const names = rules.map((_, index) => jwtProviderName(index));
  const config: JwtAuthenticationJson = {
    providers: Object.fromEntries(rules.map(({ provider }, index) => [names[index], provider])),
    rules: [{ match: { prefix: "/" }, requires: requirement(rules.map(({ rule }) => rule)) }],
    bypassCorsPreflight: true,
  };
  return {
    value: {
      name: jwtFilter,
      typedConfig: packAny("envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication", config),
    },
    diagnostics: [
      ...rules.flatMap(({ policy, index, problem }) =>
        problem === undefined ? [] : [ruleClosed(policy, index, problem)],
      ),
      ...rules
        .filter(({ hasKeys, policy }) => !hasKeys && !isStandIn(policy))
        .map(({ policy, index }) => keysNotFetched(policy, index)),
    ],
  };
}

/** A provider that Envoy takes: in place of one that it would refuse, with the whole listener, one that refuses every token. */
interface UsableProvider {
  readonly provider: JwtProviderJson;
  /** Why Envoy would refuse the rule's own; undefined: it takes it. */
  readonly problem: string | undefined;
  readonly hasKeys: boolean;
}

function providerOf(rule: JWTRule, policy: Config<RequestAuthentication>, options: TokenOptions): UsableProvider {
  const keys = keysOf(rule, policy, options.keySets);
  const own = providerWith(rule, keys ?? unreachable, options);
  const problem = messageProblem(JwtProviderSchema, own);
  const provider = problem === undefined ? own : providerWith({}, unreachable, options);
  return { provider, problem, hasKeys: keys !== undefined };
}

/** One of a provider's two sources of keys. */
type KeySource = Pick<JwtProviderJson, "localJwks"> | Pick<JwtProviderJson, "remoteJwks">;

const unreachable: KeySource = { localJwks: { inlineString: unreachableKeys } };

/**
 * Keys written in the rule, fetched by the proxy from a service of the mesh or, where the rule leaves them to it, from another host, or looked
 * up by a resolver; undefined when none are there.
 */
function keysOf(
  rule: JWTRule,
  policy: Config<RequestAuthentication>,
  lookups: ProviderLookups | undefined,
): KeySource | undefined {
  if (rule.jwks) return { localJwks: { inlineString: rule.jwks } };
  const inMesh = keysInMesh(rule, policy.meta.namespace, lookups);
  if (inMesh !== undefined) return inMesh;
  if (lookups !== undefined && isLeftToProxies(policy, rule)) {
    const server = keyServerOf(policy, rule);
    return server && fetchedBy(rule, keyServerCluster(server.port, server.host));
  }
  if (rule.resolvedJwks === undefined) return undefined;
  return { localJwks: { inlineString: rule.resolvedJwks } };
}

function keysInMesh(rule: JWTRule, namespace: string, lookups: ProviderLookups | undefined): KeySource | undefined {
  const url = rule.jwksUri === undefined ? null : URL.parse(rule.jwksUri);
  if (url === null || lookups === undefined) return undefined;
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const [target] = keyHostNamespaces(url.hostname, namespace, lookups.mesh.rootNamespace).flatMap(
    (one) => providerCluster(lookups, { service: `${one}/${url.hostname}`, port }) ?? [],
  );
  return target && fetchedBy(rule, target.cluster);
}

const fetchedBy = ({ jwksUri = "", timeout = "5s" }: JWTRule, cluster: string): KeySource => ({
  remoteJwks: { httpUri: { uri: new URL(jwksUri).href, cluster, timeout }, cacheDuration: "300s" },
});

function providerWith(rule: JWTRule, keys: KeySource, { clearsRouteCache }: TokenOptions): JwtProviderJson {
  const claims = [...new Set([...(rule.spaceDelimitedClaims ?? []), ...spaceDelimitedClaims])].sort(byCodePoint);
  const fromHeaders = (rule.fromHeaders ?? []).map(({ name, prefix }) => ({
    name,
    ...(prefix ? { valuePrefix: prefix } : {}),
  }));
  const claimToHeaders = (rule.outputClaimToHeaders ?? []).map(({ header, claim }) => ({
    headerName: header,
    claimName: claim,
  }));
  return {
    ...(rule.issuer ? { issuer: rule.issuer } : {}),
    ...(rule.audiences?.length ? { audiences: [...rule.audiences] } : {}),
    ...keys,
    ...(rule.forwardOriginalToken ? { forward: true } : {}),
    ...(fromHeaders.length === 0 ? {} : { fromHeaders }),
    ...(rule.fromParams?.length ? { fromParams: [...rule.fromParams] } : {}),
    ...(rule.fromCookies?.length ? { fromCookies: [...rule.fromCookies] } : {}),
    ...(rule.outputPayloadToHeader ? { forwardPayloadHeader: rule.outputPayloadToHeader } : {}),
    ...(claimToHeaders.length === 0 ? {} : { claimToHeaders }),
    payloadInMetadata: jwtPayload,
    normalizePayloadInMetadata: { spaceDelimitedClaims: claims },
    ...(clearsRouteCache ? { clearRouteCache: true } : {}),
  };
}

/**
 * What a request must bring. Each rule with `presence: REQUIRED` must be satisfied, whatever other tokens there are. The token of one may lie
 * where an optional rule looks, which takes it for a bad token of its own: such a rule reads its token and refuses none.
 */
function requirement(rules: readonly JWTRule[]): JwtRequirementJson {
  const named = rules.map((rule, index) => ({ rule, provider: { providerName: jwtProviderName(index) } }));
  const required = named.filter(({ rule }) => rule.presence === "REQUIRED");
  const optional = named.filter(({ rule }) => rule.presence !== "REQUIRED");
  const taken = new Set(required.flatMap(({ rule }) => tokenLocations(rule)));
  const isShared = ({ rule }: (typeof named)[number]) => tokenLocations(rule).some((location) => taken.has(location));
  const own = optional.filter((one) => !isShared(one)).map(({ provider }) => provider);
  const requirements: readonly JwtRequirementJson[] = [
    ...required.map(({ provider }) => provider),
    ...(own.length === 0 ? [] : [anyOrNone(own)]),
    ...optional.filter(isShared).map(({ provider }) => anyOf([provider, { allowMissingOrFailed: {} }])),
  ];
  const [only, ...others] = requirements;
  if (only !== undefined && others.length === 0) return only;
  return { requiresAll: { requirements: [...requirements] } };
}

/** The places where a rule looks for its token. */
function tokenLocations({ fromHeaders = [], fromParams = [], fromCookies = [] }: JWTRule): readonly string[] {
  const stated = [
    ...fromHeaders.map(({ name }) => `header ${name.toLowerCase()}`),
    ...fromParams.map((name) => `parameter ${name}`),
    ...fromCookies.map((name) => `cookie ${name}`),
  ];
  return stated.length === 0 ? ["header authorization", "parameter access_token"] : stated;
}

/**
 * A token of any provider, or none. With several providers the tokens may share a place, where one provider's token
 * is a bad one for all others: so one good token suffices, and without any of them every place must be empty or good.
 */
function anyOrNone(providers: readonly JwtRequirementJson[]): JwtRequirementJson {
  const optional = providers.map((provider) => anyOf([provider, { allowMissing: {} }]));
  const [only, ...others] = optional;
  if (only !== undefined && others.length === 0) return only;
  return anyOf([...providers, { requiresAll: { requirements: optional } }]);
}

const anyOf = (requirements: readonly JwtRequirementJson[]): JwtRequirementJson => ({
  requiresAny: { requirements: [...requirements] },
});

function ruleClosed(policy: Config<RequestAuthentication>, index: number, problem: string): Diagnostic {
  return {
    code: "security-closed",
    severity: "warning",
    origin: policy.origin,
    path: writtenPath(policy, ["spec", "jwtRules", index]),
    message: `Envoy would refuse the rule (${problem}), so it fails closed: every token is refused`,
    hint: "correct the rule",
  };
}

/** Whether a diagnostic is about keys that a resolver reads, but has not read yet, or has no place to put for. */
export const areKeysUnread = ({ code, message }: Pick<Diagnostic, "code" | "message">): boolean =>
  code === "jwks-not-fetched" && message === keysUnread;

const keysUnread = "the keys of this issuer have not been read, so every token of it is refused";

function keysNotFetched(policy: Config<RequestAuthentication>, index: number): Diagnostic {
  const rule = policy.spec.jwtRules?.[index] ?? {};
  const { issuer = "", jwksUri } = rule;
  if (isLeftToProxies(policy, rule))
    return {
      code: "jwks-not-fetched",
      severity: "warning",
      origin: policy.origin,
      path: writtenPath(policy, ["spec", "jwtRules", index, "jwksUri"]),
      message: `${remoteKeysAnnotation} leaves the keys of this issuer to its proxies, which fetch them over https alone, so every token of it is refused`,
      hint: "write an https URL without a password, or leave the issuer out of the annotation",
    };
  const isFetched = jwksUri !== undefined || URL.canParse(issuer);
  return {
    code: "jwks-not-fetched",
    severity: "warning",
    origin: policy.origin,
    path: writtenPath(policy, ["spec", "jwtRules", index, jwksUri === undefined ? "issuer" : "jwksUri"]),
    message: isFetched
      ? keysUnread
      : "the rule names no keys, and its issuer is no URL at which they could be found, so every token of it is refused",
    hint: isFetched
      ? "`portolan status` shows the reason; `portolan resolve` tries again now. Keys can be written into jwks, and proxies fetch those " +
        "of a host that is declared as a service (ServiceEntry)"
      : "write the URL of its key set into jwksUri, or its keys into jwks",
  };
}
