import type { ParsedObject } from "../documents/parse.ts";
import type { Finding } from "../finding.ts";
import type { NameRule } from "../rules/metadata.ts";
import { endpointSliceRules, endpointsRules } from "./endpoint-rules.ts";
import { podRules } from "./pod-rules.ts";
import { serviceRules } from "./service-rules.ts";
import { templateRules } from "./template-rules.ts";

/** A kind of Kubernetes' own, or one that everybody uses as if it were. */
export interface KubernetesKind {
  readonly group: string;
  readonly kind: string;
  /** Versions that are or were served; empty: any. */
  readonly versions: readonly string[];
  /** The version whose fields `fields.ts` holds, under the kind's name; absent: its fields are not checked. */
  readonly structured?: string;
  /** Checks beyond single fields; they run on objects whose fields are right. */
  readonly rules: (object: ParsedObject) => Iterable<Finding>;
  readonly isClusterScoped: boolean;
  /** What the API server takes as the name of an object; `pathSegment` is any text that fits into an address, `system:node`. */
  readonly nameRule: NameRule;
}

const noRules = (): readonly Finding[] => [];
const clusterScoped: ReadonlySet<string> = new Set(
  (
    "Namespace Node PersistentVolume StorageClass CSIDriver CSINode VolumeAttachment PriorityClass IngressClass ClusterRole " +
    "ClusterRoleBinding CustomResourceDefinition APIService CertificateSigningRequest RuntimeClass FlowSchema " +
    "PriorityLevelConfiguration ClusterTrustBundle MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy " +
    "ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding PodSecurityPolicy ComponentStatus"
  ).split(" "),
);

type Rules = KubernetesKind["rules"];

/** Kinds of one group whose fields are known. */
function structured(
  group: string,
  versions: string,
  kinds: Readonly<Record<string, Rules>>,
): readonly KubernetesKind[] {
  const [first = "v1", ...others] = versions.split(" ");
  return Object.entries(kinds).map(([kind, rules]) => ({
    ...named(group, kind),
    versions: [first, ...others],
    structured: first,
    rules,
  }));
}

function named(group: string, kind: string): KubernetesKind {
  return {
    group,
    kind,
    versions: [],
    rules: noRules,
    isClusterScoped: clusterScoped.has(kind),
    nameRule: nameRuleOf(group, kind),
  };
}

function nameRuleOf(group: string, kind: string): NameRule {
  if (group === "rbac.authorization.k8s.io" || kind === "ClusterTrustBundle") return "pathSegment";
  return group === "" && (kind === "Namespace" || kind === "Service") ? "label" : "subdomain";
}

const others: Readonly<Record<string, string>> = {
  "": "Binding ComponentStatus Event LimitRange PodTemplate ReplicationController ResourceQuota",
  apps: "ControllerRevision",
  policy: "PodSecurityPolicy",
  "storage.k8s.io": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
  "scheduling.k8s.io": "PriorityClass",
  "networking.k8s.io": "IPAddress ServiceCIDR",
  "admissionregistration.k8s.io":
    "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
  "apiextensions.k8s.io": "CustomResourceDefinition",
  "apiregistration.k8s.io": "APIService",
  "certificates.k8s.io": "CertificateSigningRequest ClusterTrustBundle",
  "events.k8s.io": "Event",
  "node.k8s.io": "RuntimeClass",
  "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
};

/** Ingress and IngressClass are configuration here (`istio-kinds.ts`). */
const kubernetesKinds: readonly KubernetesKind[] = [
  ...structured("", "v1", {
    ConfigMap: noRules,
    Endpoints: endpointsRules,
    Namespace: noRules,
    Node: noRules,
    PersistentVolume: noRules,
    PersistentVolumeClaim: noRules,
    Pod: podRules,
    Secret: noRules,
    Service: serviceRules,
    ServiceAccount: noRules,
  }),
  ...structured("apps", "v1 v1beta2 v1beta1", {
    DaemonSet: templateRules,
    Deployment: templateRules,
    ReplicaSet: templateRules,
    StatefulSet: templateRules,
  }),
  ...structured("batch", "v1 v1beta1 v2alpha1", { CronJob: templateRules, Job: templateRules }),
  ...structured("discovery.k8s.io", "v1 v1beta1", { EndpointSlice: endpointSliceRules }),
  ...structured("networking.k8s.io", "v1", { NetworkPolicy: noRules }),
  ...structured("policy", "v1 v1beta1", { PodDisruptionBudget: noRules }),
  ...structured("autoscaling", "v2 v2beta2 v2beta1 v1", { HorizontalPodAutoscaler: noRules }),
  ...structured("coordination.k8s.io", "v1 v1beta1", { Lease: noRules }),
  ...structured("rbac.authorization.k8s.io", "v1 v1beta1 v1alpha1", {
    ClusterRole: noRules,
    ClusterRoleBinding: noRules,
    Role: noRules,
    RoleBinding: noRules,
  }),
  ...structured("admissionregistration.k8s.io", "v1 v1beta1", {
    MutatingWebhookConfiguration: noRules,
    ValidatingWebhookConfiguration: noRules,
  }),
  // Where Deployments and the like were served up to 1.15.
  ...["DaemonSet", "Deployment", "ReplicaSet"].map((kind) => ({ ...named("extensions", kind), rules: templateRules })),
  { ...named("argoproj.io", "Rollout"), rules: templateRules },
  ...Object.entries(others).flatMap(([group, kinds]) => kinds.split(" ").map((kind) => named(group, kind))),
];

const byGroupKind: ReadonlyMap<string, KubernetesKind> = new Map(
  kubernetesKinds.map((known) => [`${known.group}/${known.kind}`, known]),
);

/** Undefined for a kind that is neither Kubernetes' own nor used as such. */
export function kubernetesKindOf(group: string, kind: string): KubernetesKind | undefined {
  return byGroupKind.get(`${group}/${kind}`);
}

/** Kinds of each group, without those of other makers. */
export const kubernetesKindNames: ReadonlyMap<string, readonly string[]> = new Map(
  [...Map.groupBy(kubernetesKinds, ({ group }) => group)]
    .filter(([group]) => group !== "argoproj.io")
    .map(([group, kinds]) => [group, kinds.map(({ kind }) => kind)]),
);
