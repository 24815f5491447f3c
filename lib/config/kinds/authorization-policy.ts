import type { PolicyTarget } from "./selector.ts";

/**
 * `security.istio.io` AuthorizationPolicy.
 * @see https://istio.io/latest/docs/reference/config/security/authorization-policy/
 */
export interface AuthorizationPolicy extends PolicyTarget {
  /** Absent: ALLOW. */
  readonly action?: "ALLOW" | "DENY" | "AUDIT" | "CUSTOM";
  /** CUSTOM only. */
  readonly provider?: AuthorizationProvider;
  /** Absent with ALLOW: nothing is allowed. A rule `{}` matches everything. */
  readonly rules?: readonly Rule[];
}

export interface AuthorizationProvider {
  readonly name?: string;
}

/** All given parts must hold; within a part any entry. */
export interface Rule {
  readonly from?: readonly { readonly source: Source }[];
  readonly to?: readonly { readonly operation: Operation }[];
  readonly when?: readonly Condition[];
}

export interface Source {
  readonly principals?: readonly string[];
  readonly notPrincipals?: readonly string[];
  readonly requestPrincipals?: readonly string[];
  readonly notRequestPrincipals?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly notNamespaces?: readonly string[];
  readonly serviceAccounts?: readonly string[];
  readonly notServiceAccounts?: readonly string[];
  readonly trustDomains?: readonly string[];
  readonly notTrustDomains?: readonly string[];
  readonly ipBlocks?: readonly string[];
  readonly notIpBlocks?: readonly string[];
  readonly remoteIpBlocks?: readonly string[];
  readonly notRemoteIpBlocks?: readonly string[];
}

export interface Operation {
  readonly hosts?: readonly string[];
  readonly notHosts?: readonly string[];
  readonly ports?: readonly string[];
  readonly notPorts?: readonly string[];
  readonly methods?: readonly string[];
  readonly notMethods?: readonly string[];
  readonly paths?: readonly string[];
  readonly notPaths?: readonly string[];
}

export interface Condition {
  readonly key: string;
  readonly values?: readonly string[];
  readonly notValues?: readonly string[];
}
