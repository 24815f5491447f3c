/**
 * `authentication.istio.io/v1alpha1` Policy and MeshPolicy.
 * @see docs/how-istio-does-it/kind-rules.md#authentication-policies
 */
export interface AuthenticationPolicy {
  /** Absent: the whole namespace (Policy) or mesh (MeshPolicy). */
  readonly targets?: readonly TargetSelector[];
  /** Absent: no peer authentication. */
  readonly peers?: readonly PeerAuthenticationMethod[];
  readonly peerIsOptional?: boolean;
  readonly origins?: readonly OriginAuthenticationMethod[];
  readonly originIsOptional?: boolean;
  /** Absent: USE_PEER. */
  readonly principalBinding?: "USE_PEER" | "USE_ORIGIN";
}

export interface TargetSelector {
  /** Short name of a service. */
  readonly name: string;
  readonly subset?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Absent: every port. */
  readonly ports?: readonly TargetPort[];
}

/** One of the two. */
export interface TargetPort {
  readonly number?: number;
  readonly name?: string;
}

/** One of the two. `mtls: null` is read as `mtls: {}`. */
export interface PeerAuthenticationMethod {
  readonly mtls?: LegacyMutualTls;
  readonly jwt?: LegacyJwt;
}

export interface LegacyMutualTls {
  readonly allowTls?: boolean;
  /** Absent: STRICT. */
  readonly mode?: "STRICT" | "PERMISSIVE";
}

export interface OriginAuthenticationMethod {
  readonly jwt?: LegacyJwt;
}

export interface LegacyJwt {
  readonly issuer?: string;
  readonly audiences?: readonly string[];
  readonly jwksUri?: string;
  readonly jwks?: string;
  /** Key set that a resolver has found for `jwksUri` or `issuer`; nobody writes it. */
  readonly resolvedJwks?: string;
  readonly jwtHeaders?: readonly string[];
  readonly jwtParams?: readonly string[];
  /** Absent: every request is checked; else those that fulfil one of the rules. */
  readonly triggerRules?: readonly TriggerRule[];
}

/** Fulfilled by a path that matches none of the excluded ones and, if any are given, one of the included ones. */
export interface TriggerRule {
  readonly excludedPaths?: readonly PathMatch[];
  readonly includedPaths?: readonly PathMatch[];
}

/** One of the four; the path is without its query. */
export interface PathMatch {
  readonly exact?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly regex?: string;
}
