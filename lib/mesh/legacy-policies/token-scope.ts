import type { Condition } from "../../config/kinds/authorization-policy.ts";

/** Which tokens a port of a workload takes, and what it calls the principal of a request. */
export interface TokenScope {
  /** The principal is the peer's (`principalBinding: USE_PEER`, the default), not the token's. */
  readonly bindsPeer: boolean;
  /**
   * Issuers whose tokens the port takes, where other ports of the workload take tokens of others: a workload has one filter
   * that checks tokens, and what it finds in them is there on every port. Undefined: any token that was found good.
   */
  readonly issuers: readonly string[] | undefined;
}

export const anyToken: TokenScope = { bindsPeer: false, issuers: undefined };

/** Key of the condition on who issued a token. */
export const issuerKey = "request.auth.claims[iss]";

/** Conditions as they are meant on a port; undefined where nothing can fulfil them, since the port takes no token. */
export function scopedConditions(when: readonly Condition[], scope: TokenScope): readonly Condition[] | undefined {
  const bound = when.map((condition) =>
    scope.bindsPeer && condition.key === "request.auth.principal"
      ? { ...condition, key: "source.principal" }
      : condition,
  );
  const readsToken = bound.some(({ key }) => key.startsWith("request.auth."));
  if (!readsToken || scope.issuers === undefined) return bound;
  return scope.issuers.length === 0 ? undefined : [...bound, { key: issuerKey, values: scope.issuers }];
}
