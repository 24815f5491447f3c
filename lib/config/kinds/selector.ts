/** `type.v1beta1.WorkloadSelector`: chooses workloads of security, telemetry, extension and destination-rule objects. */
export interface WorkloadSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
}

/** `type.v1beta1.PolicyTargetReference`. */
export interface PolicyTargetReference {
  /** "" or absent: core. */
  readonly group?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** What a policy attaches to; at most one of the three, none: the whole namespace (or mesh). */
export interface PolicyTarget {
  readonly selector?: WorkloadSelector;
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
}

/** `type.v1beta1.WorkloadMode`; absent or UNDEFINED: CLIENT_AND_SERVER. */
export type WorkloadMode = "UNDEFINED" | "CLIENT" | "SERVER" | "CLIENT_AND_SERVER";

/** Kubernetes' label selector, as MeshConfig uses it: all parts must hold. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`. */
  readonly operator: string;
  readonly values?: readonly string[];
}
