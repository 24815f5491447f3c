import { type KindSchema, kindSchema } from "./kind-schema.ts";
import {
  authenticationPolicyRules,
  destinationPolicyRules,
  egressRuleRules,
  meshPolicyRules,
} from "./rules/legacy/legacy-policies.ts";
import {
  httpApiSpecBindingRules,
  httpApiSpecRules,
  quotaSpecBindingRules,
  quotaSpecRules,
  rbacConfigRules,
  serviceRoleBindingRules,
  serviceRoleRules,
} from "./rules/legacy/mixer-client.ts";
import { ingressRuleRules, routeRuleRules } from "./rules/legacy/route-rule.ts";
import { authenticationPolicy, destinationPolicy, egressRule, ingressRule, routeRule } from "./schema/legacy.ts";
import {
  endUserPolicySpec,
  endUserPolicySpecBinding,
  httpApiSpec,
  httpApiSpecBinding,
  quotaSpec,
  quotaSpecBinding,
  rbacConfig,
  serviceRole,
  serviceRoleBinding,
} from "./schema/mixer-client.ts";
import { struct } from "./schema/scalars.ts";

const config = { group: "config.istio.io", versions: ["v1alpha2"] } as const;
const authentication = { group: "authentication.istio.io", versions: ["v1alpha1"] } as const;
const rbac = { group: "rbac.istio.io", versions: ["v1alpha1"] } as const;

/**
 * Kinds of Istio up to 1.5. Those of authentication and RBAC are converted to the kinds that followed them
 * (`lib/mesh/legacy-policies`); of the others, those with an effect have it on the v1 API only.
 * @see docs/how-istio-does-it/kinds.md#kinds-that-are-gone
 */
export const legacyKinds: readonly KindSchema[] = [
  kindSchema({ kind: "RouteRule", ...config, plural: "routerules", schema: routeRule, rules: routeRuleRules }),
  kindSchema({ kind: "IngressRule", ...config, plural: "ingressrules", schema: ingressRule, rules: ingressRuleRules }),
  kindSchema({ kind: "EgressRule", ...config, plural: "egressrules", schema: egressRule, rules: egressRuleRules }),
  kindSchema({
    kind: "DestinationPolicy",
    ...config,
    plural: "destinationpolicies",
    schema: destinationPolicy,
    rules: destinationPolicyRules,
  }),
  kindSchema({ kind: "HTTPAPISpec", ...config, plural: "httpapispecs", schema: httpApiSpec, rules: httpApiSpecRules }),
  kindSchema({
    kind: "HTTPAPISpecBinding",
    ...config,
    plural: "httpapispecbindings",
    schema: httpApiSpecBinding,
    rules: httpApiSpecBindingRules,
  }),
  kindSchema({ kind: "QuotaSpec", ...config, plural: "quotaspecs", schema: quotaSpec, rules: quotaSpecRules }),
  kindSchema({
    kind: "QuotaSpecBinding",
    ...config,
    plural: "quotaspecbindings",
    schema: quotaSpecBinding,
    rules: quotaSpecBindingRules,
  }),
  kindSchema({
    kind: "EndUserAuthenticationPolicySpec",
    ...config,
    plural: "enduserauthenticationpolicyspecs",
    schema: endUserPolicySpec,
    rules: () => [],
    noEffect: "only releases before 0.8 read it; write an authentication Policy with origins",
  }),
  kindSchema({
    kind: "EndUserAuthenticationPolicySpecBinding",
    ...config,
    plural: "enduserauthenticationpolicyspecbindings",
    schema: endUserPolicySpecBinding,
    rules: () => [],
    noEffect: "only releases before 0.8 read it; write an authentication Policy with targets",
  }),
  kindSchema({
    kind: "Policy",
    ...authentication,
    plural: "policies",
    schema: authenticationPolicy,
    rules: authenticationPolicyRules,
    emptyWhenNull: ["mtls"],
  }),
  kindSchema({
    kind: "MeshPolicy",
    ...authentication,
    plural: "meshpolicies",
    clusterScoped: true,
    schema: authenticationPolicy,
    rules: meshPolicyRules,
    emptyWhenNull: ["mtls"],
  }),
  kindSchema({
    kind: "ServiceRole",
    ...rbac,
    aliases: [config.group],
    versions: ["v1alpha1", "v1alpha2"],
    plural: "serviceroles",
    schema: serviceRole,
    rules: serviceRoleRules,
  }),
  kindSchema({
    kind: "ServiceRoleBinding",
    ...rbac,
    aliases: [config.group],
    versions: ["v1alpha1", "v1alpha2"],
    plural: "servicerolebindings",
    schema: serviceRoleBinding,
    rules: serviceRoleBindingRules,
  }),
  kindSchema({
    kind: "RbacConfig",
    ...rbac,
    plural: "rbacconfigs",
    schema: rbacConfig,
    rules: rbacConfigRules,
  }),
  kindSchema({
    kind: "ClusterRbacConfig",
    ...rbac,
    plural: "clusterrbacconfigs",
    clusterScoped: true,
    schema: rbacConfig,
    rules: rbacConfigRules,
  }),
  ...["rule", "attributemanifest", "instance", "handler", "template", "adapter"].map((kind) =>
    kindSchema({
      kind,
      ...config,
      plural: `${kind}s`,
      schema: struct,
      rules: () => [],
      noEffect: "Mixer reads it; it reaches no proxy",
    }),
  ),
];
