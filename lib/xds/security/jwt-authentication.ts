/**
 * RequestAuthentications of a workload as one JWT filter. A request without a token passes, one with a bad token is
 * refused; that there must be a token is said by an AuthorizationPolicy.
 * @see docs/how-istio-does-it/security.md#request-authentication
 */
import {
  type JwtAuthenticationJson,
  type JwtProviderJson,
  JwtProviderSchema,
  type JwtRequirementJson,
} from "../../../gen/envoy/extensions/filters/http/jwt_authn/v3/config_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { type Config, writtenPath } from "../../config/config.ts";
import { byCodePoint, type Diagnostic, type Stage } from "../../config/diagnostic.ts";
import { isStandIn } from "../../config/fail-closed/closed-object.ts";
import type { JWTRule, RequestAuthentication } from "../../config/kinds/request-authentication.ts";
import { messageProblem } from "../../descriptors/messages.ts";
import { packAny } from "../core-messages.ts";
import { jwtProviderName } from "../names.ts";
import { type ProviderLookups, providerCluster } from "../telemetry/provider-cluster.ts";
import { jwtFilter, jwtPayload } from "./metadata-match.ts";

/** Claims that are lists written with spaces, whatever a rule adds. */
const spaceDelimitedClaims = ["permission", "scope"];

/**
 * A key set that nobody can sign for: stands in for keys that could not be fetched, so that every token is refused.
 * @see istio 1.30.3 pilot/pkg/model/jwks_resolver.go
 */
const unreachableKeys = `{
  "keys": [
    {
      "kty": "RSA",
      "e": "AQAB",
      "n": "0xObjM0UvS_oaazjpEYlAbwctEJ4L8pH3OuTb7qth7gUwqet-EzQB4dgFdvSdMgrLnSncQGRjpEYz3F3viIbH-3EN3TxSlPNviHxeOdyiBVfumN8dMxbLvVJUpfNOnvmMxJcl-8NNjAwcOjk4otSALaYgYYyOPyvKtgVdrQr-FoubWX4yrjxW-MJ2-7OBeepUUNOsVwGV23YX03sVkkyvY3otRflkBcY3_HKpBxJl9wk2GyOShN4_PNUF9-vwfnvOXMbCDX-w4PTef4geeb_GiT40YCKHTKMSPVanGRn5GExIWmki-mmqh94-mPTJyBR74ShspL3BxPZitDL574T1w"
    }
  ]
}`;

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
    .map((found) => ({ ...found, ...providerOf(found.rule, options) }))
    .sort((a, b) => byCodePoint(a.rule.issuer ?? "", b.rule.issuer ?? ""));
  if (rules.length === 0) return { value: undefined, diagnostics: [] };
  const names = rules.map((_, index) => jwtProviderName(index));
  const config: JwtAuthenticationJson = {
    providers: Object.fromEntries(rules.map(({ provider }, index) => [names[index], provider])),
    rules: [{ match: { prefix: "/" }, requires: requirement(names) }],
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

function providerOf(rule: JWTRule, options: TokenOptions): UsableProvider {
  const keys = keysOf(rule, options.keySets);
  const own = providerWith(rule, keys ?? unreachable, options);
  const problem = messageProblem(JwtProviderSchema, own);
  const provider = problem === undefined ? own : providerWith({}, unreachable, options);
  return { provider, problem, hasKeys: keys !== undefined };
}

/** One of a provider's two sources of keys. */
type KeySource = Pick<JwtProviderJson, "localJwks"> | Pick<JwtProviderJson, "remoteJwks">;

const unreachable: KeySource = { localJwks: { inlineString: unreachableKeys } };

/** Keys written in the rule, or fetched by the proxy from a service of the mesh; undefined when neither is there. */
function keysOf(rule: JWTRule, lookups: ProviderLookups | undefined): KeySource | undefined {
  if (rule.jwks) return { localJwks: { inlineString: rule.jwks } };
  const url = rule.jwksUri === undefined ? null : URL.parse(rule.jwksUri);
  if (url === null || lookups === undefined) return undefined;
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const target = providerCluster(lookups, { service: url.hostname, port });
  if (target === undefined) return undefined;
  const httpUri = { uri: url.href, cluster: target.cluster, timeout: rule.timeout ?? "5s" };
  return { remoteJwks: { httpUri, cacheDuration: "300s" } };
}

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
 * A token of any provider, or none. With several providers the tokens may share a place, where one provider's token
 * is a bad one for all others: so one good token suffices, and without any of them every place must be empty or good.
 */
function requirement(names: readonly string[]): JwtRequirementJson {
  const each = names.map((providerName): JwtRequirementJson => ({ providerName }));
  const optional = each.map(
    (provider): JwtRequirementJson => ({ requiresAny: { requirements: [provider, { allowMissing: {} }] } }),
  );
  const [only, ...others] = optional;
  if (only !== undefined && others.length === 0) return only;
  return { requiresAny: { requirements: [...each, { requiresAll: { requirements: optional } }] } };
}

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

function keysNotFetched(policy: Config<RequestAuthentication>, index: number): Diagnostic {
  return {
    code: "jwks-not-fetched",
    severity: "warning",
    origin: policy.origin,
    path: writtenPath(policy, ["spec", "jwtRules", index, "jwksUri"]),
    message: "the keys of this issuer are not known, so every token of it is refused",
    hint: "write the keys into jwks, or declare the host of jwksUri as a service (ServiceEntry), so that proxies fetch them",
  };
}
