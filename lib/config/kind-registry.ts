import { byCodePoint } from "./diagnostic.ts";
import { type KindSchema, kindSchema, type Rules } from "./kind-schema.ts";
import { destinationRule } from "./schema/destination-rule.ts";
import { envoyFilter } from "./schema/envoy-filter.ts";
import { proxyConfigResource, trafficExtension, wasmPlugin } from "./schema/extension.ts";
import { gateway } from "./schema/gateway.ts";
import { ingress, ingressClass } from "./schema/ingress.ts";
import { authorizationPolicy, peerAuthentication, requestAuthentication } from "./schema/security.ts";
import { serviceEntry, workloadEntry, workloadGroup } from "./schema/service-entry.ts";
import { sidecar } from "./schema/sidecar.ts";
import { telemetry } from "./schema/telemetry.ts";
import { virtualService } from "./schema/virtual-service.ts";

const networking = { group: "networking.istio.io", versions: ["v1", "v1beta1", "v1alpha3"] } as const;
const security = { group: "security.istio.io", versions: ["v1", "v1beta1"] } as const;
const noRules: Rules<unknown> = () => [];

/** Every kind of configuration that Portolan reads, by group, then kind. @see model-config 4.2 */
export const kindSchemas: readonly KindSchema[] = [
  kindSchema({
    kind: "VirtualService",
    ...networking,
    plural: "virtualservices",
    schema: virtualService,
    rules: noRules,
  }),
  kindSchema({
    kind: "DestinationRule",
    ...networking,
    plural: "destinationrules",
    schema: destinationRule,
    rules: noRules,
  }),
  kindSchema({ kind: "Gateway", ...networking, plural: "gateways", schema: gateway, rules: noRules }),
  kindSchema({ kind: "ServiceEntry", ...networking, plural: "serviceentries", schema: serviceEntry, rules: noRules }),
  kindSchema({
    kind: "WorkloadEntry",
    ...networking,
    plural: "workloadentries",
    schema: workloadEntry,
    rules: noRules,
  }),
  kindSchema({
    kind: "WorkloadGroup",
    ...networking,
    plural: "workloadgroups",
    schema: workloadGroup,
    rules: noRules,
    noEffect: "a WorkloadGroup is a template for WorkloadEntries; no proxy is told of it",
  }),
  kindSchema({ kind: "Sidecar", ...networking, plural: "sidecars", schema: sidecar, rules: noRules }),
  kindSchema({
    kind: "EnvoyFilter",
    group: networking.group,
    versions: ["v1alpha3"],
    plural: "envoyfilters",
    schema: envoyFilter,
    rules: noRules,
  }),
  kindSchema({
    kind: "ProxyConfig",
    group: networking.group,
    versions: ["v1beta1"],
    plural: "proxyconfigs",
    schema: proxyConfigResource,
    rules: noRules,
  }),
  kindSchema({
    kind: "AuthorizationPolicy",
    ...security,
    plural: "authorizationpolicies",
    schema: authorizationPolicy,
    rules: noRules,
  }),
  kindSchema({
    kind: "PeerAuthentication",
    ...security,
    plural: "peerauthentications",
    schema: peerAuthentication,
    rules: noRules,
  }),
  kindSchema({
    kind: "RequestAuthentication",
    ...security,
    plural: "requestauthentications",
    schema: requestAuthentication,
    rules: noRules,
  }),
  kindSchema({
    kind: "Telemetry",
    group: "telemetry.istio.io",
    versions: ["v1", "v1alpha1"],
    plural: "telemetries",
    schema: telemetry,
    rules: noRules,
  }),
  kindSchema({
    kind: "WasmPlugin",
    group: "extensions.istio.io",
    versions: ["v1alpha1"],
    plural: "wasmplugins",
    schema: wasmPlugin,
    rules: noRules,
  }),
  kindSchema({
    kind: "TrafficExtension",
    group: "extensions.istio.io",
    versions: ["v1alpha1"],
    plural: "trafficextensions",
    schema: trafficExtension,
    rules: noRules,
    noEffect: "Istio 1.30 does not read TrafficExtensions; write a WasmPlugin or an EnvoyFilter",
  }),
  kindSchema({
    kind: "Ingress",
    group: "networking.k8s.io",
    versions: ["v1"],
    plural: "ingresses",
    schema: ingress,
    rules: noRules,
  }),
  kindSchema({
    kind: "IngressClass",
    group: "networking.k8s.io",
    versions: ["v1"],
    plural: "ingressclasses",
    clusterScoped: true,
    schema: ingressClass,
    rules: noRules,
  }),
];

const byGroupKind: ReadonlyMap<string, KindSchema> = new Map(
  kindSchemas.map((schema) => [`${schema.group}/${schema.kind}`, schema]),
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
