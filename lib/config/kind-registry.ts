import { byCodePoint } from "./diagnostic.ts";
import { istioKinds } from "./istio-kinds.ts";
import type { KindSchema } from "./kind-schema.ts";
import { legacyKinds } from "./legacy-kinds.ts";

/**
 * Every kind of configuration that Portolan reads, today's before the legacy ones.
 * @see docs/how-istio-does-it/kinds.md#versions
 */
export const kindSchemas: readonly KindSchema[] = [...istioKinds, ...legacyKinds];

const byGroupKind: ReadonlyMap<string, KindSchema> = new Map(
  kindSchemas.flatMap((schema) =>
    [schema.group, ...schema.aliases].map((group) => [`${group}/${schema.kind}`, schema] as const),
  ),
);

/** The schema of a kind; undefined for one that is no configuration of ours. */
export function schemaOf(group: string, kind: string): KindSchema | undefined {
  return byGroupKind.get(`${group}/${kind}`);
}

/** Kubernetes kinds that a registry reads, or that are known to have no part in a mesh's configuration. */
const platformKinds: ReadonlySet<string> = new Set([
  "/Service",
  "/Endpoints",
  "/Pod",
  "/Secret",
  "/ConfigMap",
  "/ServiceAccount",
  "/Namespace",
  "/Node",
  "discovery.k8s.io/EndpointSlice",
  "apps/Deployment",
  "apps/DaemonSet",
  "apps/StatefulSet",
  "apps/ReplicaSet",
  "batch/Job",
  "batch/CronJob",
  "coordination.k8s.io/Lease",
  "autoscaling/HorizontalPodAutoscaler",
  "policy/PodDisruptionBudget",
  "networking.k8s.io/NetworkPolicy",
  "rbac.authorization.k8s.io/Role",
  "rbac.authorization.k8s.io/RoleBinding",
  "rbac.authorization.k8s.io/ClusterRole",
  "rbac.authorization.k8s.io/ClusterRoleBinding",
  "apiextensions.k8s.io/CustomResourceDefinition",
  "admissionregistration.k8s.io/MutatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
  "/PersistentVolume",
  "/PersistentVolumeClaim",
]);

export function isPlatformKind(group: string, kind: string): boolean {
  return platformKinds.has(`${group}/${kind}`);
}

/** Every kind by name, for hints. */
export const knownKindNames: readonly string[] = [...new Set(kindSchemas.map((schema) => schema.kind))].sort(
  byCodePoint,
);
