/**
 * `rbac.istio.io/v1alpha1` ServiceRole (0.8: `config.istio.io/v1alpha2`).
 * @see docs/how-istio-does-it/kind-rules.md#roles-and-bindings
 */
export interface ServiceRole {
  readonly rules: readonly AccessRule[];
}

export interface AccessRule {
  readonly services?: readonly string[];
  readonly hosts?: readonly string[];
  readonly notHosts?: readonly string[];
  readonly paths?: readonly string[];
  readonly notPaths?: readonly string[];
  readonly methods?: readonly string[];
  readonly notMethods?: readonly string[];
  readonly ports?: readonly number[];
  readonly notPorts?: readonly number[];
  readonly constraints?: readonly AccessConstraint[];
}

export interface AccessConstraint {
  readonly key?: string;
  readonly values?: readonly string[];
}

/** `rbac.istio.io/v1alpha1` ServiceRoleBinding. */
export interface ServiceRoleBinding {
  readonly subjects: readonly Subject[];
  /** Absent: ENFORCED. */
  readonly mode?: "ENFORCED" | "PERMISSIVE";
  readonly roleRef?: RoleRef;
}

export interface Subject {
  readonly user?: string;
  readonly group?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly names?: readonly string[];
  readonly notNames?: readonly string[];
  readonly groups?: readonly string[];
  readonly notGroups?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly notNamespaces?: readonly string[];
  readonly ips?: readonly string[];
  readonly notIps?: readonly string[];
}

export interface RoleRef {
  readonly kind?: string;
  readonly name?: string;
}

/** `rbac.istio.io/v1alpha1` RbacConfig and ClusterRbacConfig. */
export interface RbacConfig {
  /** Absent: OFF. */
  readonly mode?: "OFF" | "ON" | "ON_WITH_INCLUSION" | "ON_WITH_EXCLUSION";
  readonly inclusion?: RbacTarget;
  readonly exclusion?: RbacTarget;
  readonly enforcementMode?: "ENFORCED" | "PERMISSIVE";
}

export interface RbacTarget {
  readonly services?: readonly string[];
  readonly namespaces?: readonly string[];
}
