import { z } from "zod";
import { type KindSchema, kindSchema } from "../kind-schema.ts";
import { kubernetesGatewayRules, listenerSetRules } from "./rules/listeners.ts";
import { backendRulesOf, backendTlsPolicyRules, backendTrafficPolicyRules } from "./rules/policies.ts";
import { grpcRouteRules, httpRouteRules, tcpRouteRules, tlsRouteRules } from "./rules/routes.ts";
import { gatewayClass, kubernetesGateway, listenerSet } from "./schema/gateway.ts";
import { backendTlsPolicy, backendTrafficPolicy, kubernetesBackend, referenceGrant } from "./schema/policies.ts";
import { gatewayGroup } from "./schema/references.ts";
import { grpcRoute, httpRoute, tcpRoute, tlsRoute } from "./schema/routes.ts";

const standard = { group: gatewayGroup, versions: ["v1", "v1beta1"] } as const;
const unread = { schema: z.unknown(), rules: () => [] };

/**
 * The kinds of the Gateway API 1.5 to 1.7, as its custom resource definitions have them. Where they differ, what any of them takes is taken,
 * since a cluster has checked its objects by those that it has.
 * @see https://gateway-api.sigs.k8s.io/reference/spec/
 */
export const gatewayApiKinds: readonly KindSchema[] = [
  kindSchema({
    kind: "GatewayClass",
    ...standard,
    plural: "gatewayclasses",
    clusterScoped: true,
    schema: gatewayClass,
    rules: () => [],
  }),
  kindSchema({
    kind: "Gateway",
    ...standard,
    plural: "gateways",
    schema: kubernetesGateway,
    rules: kubernetesGatewayRules,
  }),
  kindSchema({
    kind: "ListenerSet",
    group: gatewayGroup,
    versions: ["v1"],
    plural: "listenersets",
    schema: listenerSet,
    rules: listenerSetRules,
  }),
  kindSchema({ kind: "HTTPRoute", ...standard, plural: "httproutes", schema: httpRoute, rules: httpRouteRules }),
  kindSchema({
    kind: "GRPCRoute",
    group: gatewayGroup,
    versions: ["v1", "v1alpha2"],
    plural: "grpcroutes",
    schema: grpcRoute,
    rules: grpcRouteRules,
  }),
  kindSchema({
    kind: "TLSRoute",
    group: gatewayGroup,
    versions: ["v1", "v1alpha3", "v1alpha2"],
    plural: "tlsroutes",
    schema: tlsRoute,
    rules: tlsRouteRules,
  }),
  kindSchema({
    kind: "TCPRoute",
    group: gatewayGroup,
    versions: ["v1", "v1alpha2"],
    plural: "tcproutes",
    schema: tcpRoute,
    rules: tcpRouteRules,
  }),
  kindSchema({
    kind: "UDPRoute",
    group: gatewayGroup,
    versions: ["v1", "v1alpha2"],
    plural: "udproutes",
    ...unread,
    noEffect: "routes for UDP are not supported, as in Istio",
  }),
  kindSchema({
    kind: "ReferenceGrant",
    group: gatewayGroup,
    versions: ["v1", "v1beta1", "v1alpha2"],
    plural: "referencegrants",
    schema: referenceGrant,
    rules: () => [],
  }),
  kindSchema({
    kind: "BackendTLSPolicy",
    group: gatewayGroup,
    versions: ["v1", "v1alpha3"],
    plural: "backendtlspolicies",
    schema: backendTlsPolicy,
    rules: backendTlsPolicyRules,
  }),
  kindSchema({
    kind: "XBackendTrafficPolicy",
    group: "gateway.networking.x-k8s.io",
    versions: ["v1alpha1"],
    plural: "xbackendtrafficpolicies",
    schema: backendTrafficPolicy,
    rules: backendTrafficPolicyRules,
  }),
  kindSchema({
    kind: "XBackend",
    group: "gateway.networking.x-k8s.io",
    versions: ["v1alpha1"],
    plural: "xbackends",
    schema: kubernetesBackend,
    rules: backendRulesOf,
  }),
  kindSchema({
    kind: "XMesh",
    group: "gateway.networking.x-k8s.io",
    versions: ["v1alpha1"],
    plural: "xmeshes",
    clusterScoped: true,
    ...unread,
    noEffect: "XMeshes are not supported, as in Istio",
  }),
  kindSchema({
    kind: "XTelemetryPolicy",
    group: "gateway.networking.x-k8s.io",
    versions: ["v1alpha1"],
    plural: "xtelemetrypolicies",
    ...unread,
    noEffect: "XTelemetryPolicies are not supported; a Telemetry of Istio's decides what is traced",
  }),
  kindSchema({
    kind: "InferencePool",
    group: "inference.networking.k8s.io",
    aliases: ["inference.networking.x-k8s.io"],
    versions: ["v1", "v1alpha2"],
    plural: "inferencepools",
    ...unread,
    noEffect: "InferencePools are not supported; a backend that names one is answered with 500",
  }),
];
