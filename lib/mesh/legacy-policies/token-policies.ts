/**
 * The tokens that authentication policies ask for: RequestAuthentications that check them, and AuthorizationPolicies that
 * refuse requests without one.
 * @see docs/policies.md
 * @see istio 1.4.10 pilot/pkg/security/authn/v1alpha1
 */
import { byAge, type Config } from "../../config/config.ts";
import type { Path } from "../../config/finding.ts";
import type { AuthorizationPolicy, Operation, Rule } from "../../config/kinds/authorization-policy.ts";
import type { AuthenticationPolicy, LegacyJwt } from "../../config/kinds/legacy/authentication-policy.ts";
import type { JWTRule, RequestAuthentication } from "../../config/kinds/request-authentication.ts";
import { httpOnlyAnnotation } from "../../config/made-annotations.ts";
import { groupBy } from "../group-by.ts";
import type { AuthenticationIndex } from "./authentication-index.ts";
import { convertedConfig } from "./converted-config.ts";
import type { ServedPort } from "./served-port.ts";
import { issuerKey, type TokenScope } from "./token-scope.ts";
import { triggerRegions } from "./trigger-region.ts";

type Policy = Config<AuthenticationPolicy>;

export interface TokenPolicies {
  readonly requestAuthentication: readonly Config<RequestAuthentication>[];
  readonly authorization: readonly Config<AuthorizationPolicy>[];
  tokensOn(port: ServedPort): TokenScope;
}

export type TokenSources = Pick<AuthenticationIndex, "policyFor">;

/** @param rootNamespace namespace of what a MeshPolicy becomes */
export function tokenPolicies(ports: readonly ServedPort[], index: TokenSources, rootNamespace: string): TokenPolicies {
  const effective = new Map(ports.map((port) => [port, index.policyFor(port.service, port.servicePort)]));
  const byPolicy = new Map<Policy, ServedPort[]>();
  for (const [port, policy] of effective) {
    if (policy !== undefined) byPolicy.set(policy, [...(byPolicy.get(policy) ?? []), port]);
  }
  const taken = distinctTokens([...byPolicy.keys()].sort(byAge));
  const issuersOf = (policy: Policy | undefined): readonly string[] =>
    policy === undefined ? [] : (taken.get(policy) ?? []).map(({ issuer }) => issuer);
  const all = new Set([...taken.values()].flat().map(({ issuer }) => issuer));
  return {
    requestAuthentication: [...taken].flatMap(([policy, tokens]) =>
      tokens.length === 0 ? [] : [requestAuthentication(policy, tokens, rootNamespace)],
    ),
    authorization: [...taken.keys()].flatMap((policy) =>
      requirement(policy, new Set(issuersOf(policy)), byPolicy.get(policy) ?? [], rootNamespace),
    ),
    tokensOn: (port) => {
      const policy = effective.get(port);
      const issuers = issuersOf(policy);
      return {
        bindsPeer: policy !== undefined && bindsPeer(policy.spec),
        issuers: issuers.length === all.size ? undefined : issuers,
      };
    },
  };
}

/** A token that a policy names, and where. */
export interface NamedToken {
  readonly jwt: LegacyJwt;
  readonly issuer: string;
  /** From the object's root. */
  readonly path: Path;
}

/** Tokens of peers, then of origins. */
export function tokensOf({ peers = [], origins = [] }: AuthenticationPolicy): readonly NamedToken[] {
  const named = (field: string) => (method: { readonly jwt?: LegacyJwt }, at: number) =>
    method.jwt === undefined
      ? []
      : [{ jwt: method.jwt, issuer: method.jwt.issuer ?? "", path: ["spec", field, at, "jwt"] }];
  return [...peers.flatMap(named("peers")), ...origins.flatMap(named("origins"))];
}

/**
 * The tokens of the policies of one workload. Where two policies mean different things by one issuer, the older one's keys
 * and audiences are taken, and the ports of the younger one refuse the issuer: what tells tokens apart later is the issuer.
 *
 * @param policies oldest first
 */
function distinctTokens(policies: readonly Policy[]): ReadonlyMap<Policy, readonly NamedToken[]> {
  const meanings = new Map<string, string>();
  return new Map(
    policies.map((policy) => {
      const tokens = tokensOf(policy.spec).filter(({ jwt, issuer }) => {
        const meaning = meaningOf(jwt);
        const known = meanings.get(issuer) ?? meaning;
        meanings.set(issuer, known);
        return known === meaning && isPlainIssuer(issuer);
      });
      return [policy, tokens];
    }),
  );
}

/** All that decides whether a token is good. */
export function meaningOf({ triggerRules: _where, ...jwt }: LegacyJwt): string {
  return JSON.stringify(Object.entries(jwt).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A condition would read the others as patterns. */
export const isPlainIssuer = (issuer: string): boolean => !/^\*|\*$/.test(issuer);

/** Only where a token stands in for the peer's certificate, or the policy says so, is it the principal of a request. */
function bindsPeer({ peers = [], principalBinding }: AuthenticationPolicy): boolean {
  const onlyTokens = peers.length > 0 && peers.every(({ mtls }) => mtls === undefined);
  return principalBinding !== "USE_ORIGIN" && !onlyTokens;
}

function requestAuthentication(
  policy: Policy,
  tokens: readonly NamedToken[],
  rootNamespace: string,
): Config<RequestAuthentication> {
  return convertedConfig(policy, {
    ...placeOf(policy, rootNamespace),
    kind: "RequestAuthentication",
    spec: { jwtRules: tokens.map(({ jwt }) => ruleOf(jwt)) },
    madeFrom: Object.fromEntries(tokens.map(({ path }, at) => [`spec.jwtRules.${at}`, path])),
  });
}

/** The application went on seeing the token. */
function ruleOf({ issuer, audiences, jwksUri, jwks, resolvedJwks, jwtHeaders, jwtParams }: LegacyJwt): JWTRule {
  return {
    ...(issuer === undefined ? {} : { issuer }),
    ...(audiences === undefined ? {} : { audiences }),
    ...(jwksUri === undefined ? {} : { jwksUri }),
    ...(jwks === undefined ? {} : { jwks }),
    ...(resolvedJwks === undefined ? {} : { resolvedJwks }),
    ...(jwtHeaders === undefined ? {} : { fromHeaders: jwtHeaders.map((name) => ({ name })) }),
    ...(jwtParams === undefined ? {} : { fromParams: jwtParams }),
    forwardOriginalToken: true,
  };
}

/** Refuses requests on the policy's ports that bring none of the tokens that it asks for. */
function requirement(
  policy: Policy,
  known: ReadonlySet<string>,
  ports: readonly ServedPort[],
  rootNamespace: string,
): readonly Config<AuthorizationPolicy>[] {
  const numbers = ports.map(({ number }) => String(number));
  const rules = requiredTokens(policy.spec).flatMap((alternatives) => refusals(alternatives, known, numbers));
  if (rules.length === 0) return [];
  return [
    convertedConfig<AuthorizationPolicy>(policy, {
      ...placeOf(policy, rootNamespace),
      kind: "AuthorizationPolicy",
      // A token never was asked of anything but HTTP, where a refusal for the lack of one would refuse all.
      annotations: { [httpOnlyAnnotation]: "true" },
      spec: { action: "DENY", rules },
    }),
  ];
}

/** Each a list of tokens of which one has to be there: origins, and peers where mutual TLS does not do for them. */
function requiredTokens(spec: AuthenticationPolicy): readonly (readonly LegacyJwt[])[] {
  const { peers = [], origins = [], peerIsOptional, originIsOptional } = spec;
  const peersCount = peerIsOptional !== true && peers.every(({ mtls }) => mtls === undefined);
  const jwts = (methods: readonly { readonly jwt?: LegacyJwt }[]) => methods.flatMap(({ jwt }) => jwt ?? []);
  return [...(originIsOptional === true ? [] : [jwts(origins)]), ...(peersCount ? [jwts(peers)] : [])];
}

/**
 * A token is asked for where the trigger rules of one of the alternatives say so. Any alternative does that is taken on
 * all of those requests.
 */
function refusals(
  alternatives: readonly LegacyJwt[],
  known: ReadonlySet<string>,
  ports: readonly string[],
): readonly Rule[] {
  const rules = alternatives.flatMap((asking) => {
    const triggers = JSON.stringify(asking.triggerRules);
    const issuers = alternatives
      .filter(({ triggerRules }) => triggerRules === undefined || JSON.stringify(triggerRules) === triggers)
      .flatMap(({ issuer = "" }) => (known.has(issuer) ? [issuer] : []));
    const condition = issuers.length === 0 ? [] : [{ key: issuerKey, notValues: issuers }];
    return triggerRegions(asking).flatMap((region) =>
      outsidePreflight.map(
        ({ operation, when }): Rule => ({
          to: [{ operation: { ...operation, ...region, ports } }],
          ...(condition.length + when.length === 0 ? {} : { when: [...when, ...condition] }),
        }),
      ),
    );
  });
  return [...groupBy(rules, (rule) => JSON.stringify(rule)).values()].flatMap(([rule]) => rule ?? []);
}

/** Browsers ask with OPTIONS first whether they may, and cannot send a token with that: such requests are not refused. */
const outsidePreflight: readonly { readonly operation: Operation; readonly when: NonNullable<Rule["when"]> }[] = [
  { operation: { notMethods: ["OPTIONS"] }, when: [] },
  ...["origin", "access-control-request-method"].map((header) => ({
    operation: { methods: ["OPTIONS"] },
    when: [{ key: `request.headers[${header}]`, notValues: ["*"] }],
  })),
];

function placeOf({ meta }: Policy, rootNamespace: string): { readonly name: string; readonly namespace: string } {
  const isMeshWide = meta.kind === "MeshPolicy";
  const name = isMeshWide ? "mesh-authentication-policy" : `authentication-policy-${meta.name}`;
  return { name, namespace: isMeshWide ? rootNamespace : meta.namespace };
}
