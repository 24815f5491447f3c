import { type KindSchema, kindSchema } from "./kind-schema.ts";
import { envoyFilterRules } from "./rules/extensions/envoy-filter.ts";
import { telemetryRules } from "./rules/extensions/telemetry.ts";
import { trafficExtensionRules, wasmPluginRules } from "./rules/extensions/wasm-plugin.ts";
import { gatewayRules } from "./rules/gateways/gateway.ts";
import { sidecarRules } from "./rules/gateways/sidecar.ts";
import { virtualServiceRules } from "./rules/routes/virtual-service.ts";
import { peerAuthenticationRules, requestAuthenticationRules } from "./rules/security/authentication.ts";
import { authorizationPolicyRules } from "./rules/security/authorization-policy.ts";
import { destinationRuleRules } from "./rules/traffic/destination-rule.ts";
import { serviceEntryRules, workloadEntryRules } from "./rules/workloads/service-entry.ts";
import { proxyConfigRules, workloadGroupRules } from "./rules/workloads/workload-group.ts";
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
const extensions = { group: "extensions.istio.io", versions: ["v1alpha1"] } as const;

/** The kinds of Istio 1.30, and Kubernetes' Ingress. @see docs/how-istio-does-it/kinds.md#versions */
export const istioKinds: readonly KindSchema[] = [
  kindSchema({
    kind: "VirtualService",
    ...networking,
    plural: "virtualservices",
    schema: virtualService,
    rules: virtualServiceRules,
  }),
  kindSchema({
    kind: "DestinationRule",
    ...networking,
    plural: "destinationrules",
    schema: destinationRule,
    rules: destinationRuleRules,
  }),
  kindSchema({ kind: "Gateway", ...networking, plural: "gateways", schema: gateway, rules: gatewayRules }),
  kindSchema({
    kind: "ServiceEntry",
    ...networking,
    plural: "serviceentries",
    schema: serviceEntry,
    rules: serviceEntryRules,
  }),
  kindSchema({
    kind: "WorkloadEntry",
    ...networking,
    plural: "workloadentries",
    schema: workloadEntry,
    rules: (spec) => workloadEntryRules(spec, []),
  }),
  kindSchema({
    kind: "WorkloadGroup",
    ...networking,
    plural: "workloadgroups",
    schema: workloadGroup,
    rules: workloadGroupRules,
    noEffect: "a WorkloadGroup is a template for WorkloadEntries and reaches no proxy",
  }),
  kindSchema({ kind: "Sidecar", ...networking, plural: "sidecars", schema: sidecar, rules: sidecarRules }),
  kindSchema({
    kind: "EnvoyFilter",
    group: networking.group,
    versions: ["v1alpha3"],
    plural: "envoyfilters",
    schema: envoyFilter,
    rules: envoyFilterRules,
  }),
  kindSchema({
    kind: "ProxyConfig",
    group: networking.group,
    versions: ["v1beta1"],
    plural: "proxyconfigs",
    schema: proxyConfigResource,
    rules: proxyConfigRules,
  }),
  kindSchema({
    kind: "AuthorizationPolicy",
    ...security,
    plural: "authorizationpolicies",
    schema: authorizationPolicy,
    rules: authorizationPolicyRules,
  }),
  kindSchema({
    kind: "PeerAuthentication",
    ...security,
    plural: "peerauthentications",
    schema: peerAuthentication,
    rules: peerAuthenticationRules,
  }),
  kindSchema({
    kind: "RequestAuthentication",
    ...security,
    plural: "requestauthentications",
    schema: requestAuthentication,
    rules: requestAuthenticationRules,
  }),
  kindSchema({
    kind: "Telemetry",
    group: "telemetry.istio.io",
    versions: ["v1", "v1alpha1"],
    plural: "telemetries",
    schema: telemetry,
    rules: telemetryRules,
  }),
  kindSchema({ kind: "WasmPlugin", ...extensions, plural: "wasmplugins", schema: wasmPlugin, rules: wasmPluginRules }),
  kindSchema({
    kind: "TrafficExtension",
    ...extensions,
    plural: "trafficextensions",
    schema: trafficExtension,
    rules: trafficExtensionRules,
  }),
  kindSchema({
    kind: "Ingress",
    group: "networking.k8s.io",
    // Before 1.14 in `extensions`.
    aliases: ["extensions"],
    versions: ["v1", "v1beta1"],
    plural: "ingresses",
    schema: ingress,
    rules: () => [],
  }),
  kindSchema({
    kind: "IngressClass",
    group: "networking.k8s.io",
    versions: ["v1", "v1beta1"],
    plural: "ingressclasses",
    clusterScoped: true,
    schema: ingressClass,
    rules: () => [],
  }),
];
