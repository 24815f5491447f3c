/** Key sets that were looked up, put beside the rules that ask for them. */
import type { Config } from "../../config/config.ts";
import type { AuthenticationPolicy, LegacyJwt } from "../../config/kinds/legacy/authentication-policy.ts";
import type { RequestAuthentication } from "../../config/kinds/request-authentication.ts";
import type { ResolvedJwks } from "../../config/kinds/resolved-facts.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { isOfKind } from "../../mesh/index/configs-by-kind.ts";

/** What a rule says of where its keys are, in Istio's kinds old and new. */
export type KeyRule = Pick<LegacyJwt, "issuer" | "jwks" | "jwksUri">;

/** The objects of a world, each rule with the keys that were found for it. Where nothing was found they are the same list. */
export function withResolvedKeys(
  configs: readonly Config[],
  found: readonly ResolvedJwks[],
  memo: Memo,
): readonly Config[] {
  if (found.length === 0) return configs;
  const keysOf = keysFrom(found);
  const changed = configs.map((config) => {
    const rules = rulesOf(config);
    if (rules.length === 0) return config;
    const keys = rules.map(keysOf);
    return keys.every((found) => found === undefined) ? config : withKeys(memo, { config, keys });
  });
  return keepList(memo, "objects with resolved keys", changed);
}

/** The key set that was found for a rule; the first one counts, and a URL that is written is asked for instead of the issuer. */
function keysFrom(found: readonly ResolvedJwks[]): (rule: KeyRule) => string | undefined {
  const byPlace = new Map<string, string>();
  for (const fact of found) {
    const place = "jwksUri" in fact ? `uri ${fact.jwksUri}` : `issuer ${fact.issuer}`;
    if (!byPlace.has(place)) byPlace.set(place, fact.jwks);
  }
  return ({ jwks, jwksUri, issuer }) => {
    if (jwks) return undefined;
    return byPlace.get(jwksUri === undefined ? `issuer ${issuer ?? ""}` : `uri ${jwksUri}`);
  };
}

/** The rules of an object that check tokens; none of an object of another kind. */
export function rulesOf(config: Config): readonly KeyRule[] {
  if (isOfKind(config, "RequestAuthentication")) return config.spec.jwtRules ?? [];
  if (!isOfKind(config, "Policy") && !isOfKind(config, "MeshPolicy")) return [];
  return [...(config.spec.peers ?? []), ...(config.spec.origins ?? [])].flatMap(({ jwt }) => jwt ?? []);
}

const withKeys = query(
  "object with resolved keys",
  { keys: "value" },
  ({ config, keys }: { readonly config: Config; readonly keys: readonly (string | undefined)[] }): Config => {
    let at = 0;
    const next = <R extends KeyRule>(rule: R): R => {
      const resolvedJwks = keys[at++];
      return resolvedJwks === undefined ? rule : { ...rule, resolvedJwks };
    };
    if (isOfKind(config, "RequestAuthentication")) return { ...config, spec: requestWith(config.spec, next) };
    if (isOfKind(config, "Policy") || isOfKind(config, "MeshPolicy"))
      return { ...config, spec: legacyWith(config.spec, next) };
    return config;
  },
);

type Replace = <R extends KeyRule>(rule: R) => R;

const requestWith = (spec: RequestAuthentication, replace: Replace): RequestAuthentication => ({
  ...spec,
  jwtRules: (spec.jwtRules ?? []).map(replace),
});

function legacyWith(spec: AuthenticationPolicy, replace: Replace): AuthenticationPolicy {
  const inMethod = <M extends { readonly jwt?: LegacyJwt }>(method: M): M =>
    method.jwt === undefined ? method : { ...method, jwt: replace(method.jwt) };
  const peers = spec.peers?.map(inMethod);
  const origins = spec.origins?.map(inMethod);
  return { ...spec, ...(peers === undefined ? {} : { peers }), ...(origins === undefined ? {} : { origins }) };
}
