import type { PolicyTarget } from "./selector.ts";

/**
 * `security.istio.io` RequestAuthentication.
 * @see https://istio.io/latest/docs/reference/config/security/request_authentication/
 */
export interface RequestAuthentication extends PolicyTarget {
  readonly jwtRules?: readonly JWTRule[];
}

export interface JWTRule {
  readonly issuer?: string;
  readonly audiences?: readonly string[];
  readonly jwksUri?: string;
  /** Key set, inline. */
  readonly jwks?: string;
  /** Key set that a resolver has found for `jwksUri` or `issuer`; nobody writes it. */
  readonly resolvedJwks?: string;
  /** No location at all: `Authorization: Bearer` and the query parameter `access_token`. */
  readonly fromHeaders?: readonly JWTHeader[];
  readonly fromParams?: readonly string[];
  readonly fromCookies?: readonly string[];
  readonly outputPayloadToHeader?: string;
  readonly forwardOriginalToken?: boolean;
  readonly outputClaimToHeaders?: readonly ClaimToHeader[];
  /** Absent: 5s. */
  readonly timeout?: string;
  readonly spaceDelimitedClaims?: readonly string[];
  /** Whether a request must bring a token of this rule (1.32). Absent: OPTIONAL. */
  readonly presence?: "OPTIONAL" | "REQUIRED";
}

export interface JWTHeader {
  readonly name: string;
  readonly prefix?: string;
}

export interface ClaimToHeader {
  readonly header: string;
  readonly claim: string;
}
