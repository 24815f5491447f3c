/**
 * Authentication policies and RBAC of Istio up to 1.5, converted for each workload into the kinds that followed them.
 *
 * They were written for services, and held on the ports of a workload that services lead to; the newer kinds are written for
 * workloads. So the conversion is done where the ports of a workload are known. The newer kinds win, as in 1.5: a workload
 * that a RequestAuthentication applies to takes no token of an authentication policy, and one that an AuthorizationPolicy
 * selects has no RBAC. (A policy that is only tried out changes nothing; no release with RBAC knew such policies.)
 * @see docs/policies.md
 * @see istio 1.5.10 pilot/pkg/security/authn/v1beta1
 * @see istio 1.5.10 pilot/pkg/security/authz/builder
 */

import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { isDryRun } from "../../config/dry-run.ts";
import { isStandIn } from "../../config/fail-closed/closed-object.ts";
import type { AuthenticationPolicy } from "../../config/kinds/legacy/authentication-policy.ts";
import type { RbacConfig, ServiceRole, ServiceRoleBinding } from "../../config/kinds/legacy/service-role.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { httpOnlyAnnotation } from "../../config/made-annotations.ts";
import type { Labels } from "../../config/values/labels.ts";
import { internValue } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { Service } from "../../registry/service.ts";
import { groupBy } from "../group-by.ts";
import type { ConfigsOf } from "../index/configs-by-kind.ts";
import type { ServedWorkload } from "../index/policy-attachment.ts";
import type { ServiceIndex } from "../index/service-index.ts";
import type { PolicyIndex } from "../index/workload-policies.ts";
import type { WorkloadPolicies } from "../views/views.ts";
import { type AuthenticationIndex, indexAuthentication } from "./authentication-index.ts";
import { bindRoles, type NamespaceRoles, noRoles } from "./bound-roles.ts";
import { diagnoseLegacyPolicies } from "./diagnose.ts";
import { chooseRbacConfig } from "./rbac-config.ts";
import { rbacPolicies } from "./rbac-policies.ts";
import { type ServedPort, servedPorts } from "./served-port.ts";
import { type TokenSources, tokenPolicies } from "./token-policies.ts";
import { anyToken } from "./token-scope.ts";

/** What the old kinds add to the policies of a workload. */
export interface LegacyPolicyIndex {
  readonly authentication: AuthenticationIndex;
  /** @param newer what the newer kinds say for the workload */
  policiesOf(workload: ServedWorkload, newer: WorkloadPolicies): ConvertedPolicies;
}

export type ConvertedPolicies = Pick<WorkloadPolicies, "authorization" | "requestAuthentication">;

/** @returns undefined where there is no object of the old kinds */
export function indexLegacyPolicies(
  of: ConfigsOf,
  { all: services }: Pick<ServiceIndex, "all">,
  { rootNamespace }: MeshConfig,
  domain: string,
  memo: Memo,
): Stage<LegacyPolicyIndex | undefined> {
  const [policies, meshPolicies] = [of("Policy"), of("MeshPolicy")];
  const [cluster, namespaced] = [of("ClusterRbacConfig"), of("RbacConfig")];
  const [roles, bindings] = [of("ServiceRole"), of("ServiceRoleBinding")];
  const sources = [policies, meshPolicies, cluster, namespaced, roles, bindings];
  if (sources.every((list) => list.length === 0)) return { value: undefined, diagnostics: [] };
  const authentication = authenticationIndex(memo, { policies, meshPolicies, domain });
  const { chosen, shadowed } = chooseRbacConfig(cluster, namespaced, rootNamespace);
  const bound = boundRoles(roles, bindings, memo);
  const diagnostics = legacyDiagnostics(memo, {
    policies,
    meshPolicy: authentication.meshPolicy,
    chosen,
    shadowed,
    bound: bound.map(({ stage }) => stage),
    services,
    domain,
  });
  const rolesIn = new Map(bound.map(({ namespace, stage }) => [namespace, stage.value]));
  const conversion: ConversionSources = { authentication, chosen, rolesIn, rootNamespace, memo };
  return {
    value: {
      authentication,
      policiesOf: (workload, newer) => convert(workload, newer, conversion),
    },
    diagnostics,
  };
}

interface AuthenticationInputs {
  readonly policies: readonly Config<AuthenticationPolicy>[];
  readonly meshPolicies: readonly Config<AuthenticationPolicy>[];
  readonly domain: string;
}

const authenticationIndex = query(
  "legacy authentication index",
  ({ policies, meshPolicies, domain }: AuthenticationInputs) => indexAuthentication(policies, meshPolicies, domain),
);

interface DiagnosticInputs {
  readonly policies: readonly Config<AuthenticationPolicy>[];
  readonly meshPolicy: Config<AuthenticationPolicy> | undefined;
  readonly chosen: Config<RbacConfig> | undefined;
  readonly shadowed: readonly Config<RbacConfig>[];
  readonly bound: readonly Stage<NamespaceRoles>[];
  readonly services: readonly Service[];
  readonly domain: string;
}

const legacyDiagnostics = query(
  "legacy diagnostics",
  { shadowed: "elements", bound: "elements" },
  ({ bound, services, domain, ...objects }: DiagnosticInputs): readonly Diagnostic[] => {
    const roles = bound.flatMap(({ value }) => value.roles);
    const unconverted = bound.flatMap((stage) => stage.diagnostics);
    return [...unconverted, ...diagnoseLegacyPolicies({ ...objects, roles }, services, domain)];
  },
);

/** The newer kinds' policies, and beside them what the old kinds say. */
export function withLegacyPolicies(
  newer: PolicyIndex,
  legacy: LegacyPolicyIndex | undefined,
): (workload: ServedWorkload) => WorkloadPolicies {
  if (legacy === undefined) return newer;
  return (workload) => {
    const policies = newer(workload);
    const converted = legacy.policiesOf(workload, policies);
    return {
      ...policies,
      authorization: [...policies.authorization, ...converted.authorization],
      requestAuthentication: [...policies.requestAuthentication, ...converted.requestAuthentication],
    };
  };
}

/** What policies of workloads are made from. */
interface ConversionSources {
  readonly authentication: AuthenticationIndex;
  readonly chosen: Config<RbacConfig> | undefined;
  readonly rolesIn: ReadonlyMap<string, NamespaceRoles>;
  readonly rootNamespace: string;
  readonly memo: Memo;
}

/** Made once for all workloads that back the same services and are alike in what constraints read. */
function convert(workload: ServedWorkload, newer: WorkloadPolicies, conversion: ConversionSources): ConvertedPolicies {
  const { authentication, chosen, rolesIn, rootNamespace, memo } = conversion;
  const ports = servedPorts(workload);
  const takesRbac =
    chosen !== undefined &&
    newer.authorization.every((policy) => isDryRun(policy.meta.annotations) || isBesideTokens(policy));
  const namespaces = [...new Set(ports.map(({ service }) => service.namespace))];
  const roles = namespaces.map((namespace) => rolesIn.get(namespace) ?? noRoles);
  const labels = [...new Set(roles.flatMap((of) => of.labels))].flatMap(
    (key): readonly (readonly [string, string])[] => {
      const value = takesRbac ? workload.labels[key] : undefined;
      return value === undefined ? [] : [[key, value]];
    },
  );
  const inputs = {
    chosen: takesRbac ? chosen : undefined,
    takesTokens: newer.requestAuthentication.every(({ spec }) => (spec.jwtRules ?? []).length === 0),
    namespaces,
    roles,
    rootNamespace,
    ports,
    labels: Object.fromEntries(labels),
    serviceAccount: takesRbac && roles.some((of) => of.serviceAccount) ? workload.serviceAccount : "",
  };
  return convertedPolicies(memo, inputs, answersOf(authentication)).value;
}

/** A DENY that stands in for a part of a refused RequestAuthentication: that object itself would leave RBAC in force. */
const isBesideTokens = (policy: Config): boolean =>
  isStandIn(policy) && policy.meta.annotations[httpOnlyAnnotation] !== undefined;

/** What policies of workloads ask of authentication policies: most of those hold elsewhere. */
interface AuthenticationAnswers {
  policyOfPort(
    hostname: string,
    namespace: string,
    port: number,
    name: string,
  ): Config<AuthenticationPolicy> | undefined;
}

const answersOf = ({ policyFor }: AuthenticationIndex): AuthenticationAnswers => ({
  policyOfPort: (hostname, namespace, port, name) => policyFor({ hostname, namespace }, { port, name }),
});

interface ConversionInputs {
  /** Undefined: the workload takes no RBAC. */
  readonly chosen: Config<RbacConfig> | undefined;
  readonly takesTokens: boolean;
  /** Of the services behind the ports, and the roles in them. */
  readonly namespaces: readonly string[];
  readonly roles: readonly NamespaceRoles[];
  readonly rootNamespace: string;
  readonly ports: readonly ServedPort[];
  /** Those that constraints read. */
  readonly labels: Labels;
  /** "" where no constraint reads it. */
  readonly serviceAccount: string;
}

const convertedPolicies = trackedQuery(
  "converted legacy policies",
  { namespaces: "value", roles: "elements", ports: "value", labels: "value" },
  (inputs: ConversionInputs, answers: AuthenticationAnswers, memo: Memo): ConvertedPolicies => {
    const { chosen, takesTokens, namespaces, roles, rootNamespace, ports } = inputs;
    const authentication: TokenSources = {
      policyFor: ({ hostname, namespace }, { port, name }) => answers.policyOfPort(hostname, namespace, port, name),
    };
    const rolesOf = (namespace: string): NamespaceRoles => roles[namespaces.indexOf(namespace)] ?? noRoles;
    const tokens = takesTokens ? tokenPolicies(ports, authentication, rootNamespace) : undefined;
    const tokensOn = (port: ServedPort) => tokens?.tokensOn(port) ?? anyToken;
    const rbac = chosen === undefined ? [] : rbacPolicies(inputs, ports, { config: chosen, rolesOf, tokensOn });
    // Workloads that differ in what constraints read may be allowed the same: then they have the same objects.
    return {
      authorization: [...rbac, ...(tokens?.authorization ?? [])].map((policy) => internValue(memo, policy)),
      requestAuthentication: (tokens?.requestAuthentication ?? []).map((policy) => internValue(memo, policy)),
    };
  },
);

const nothing: readonly [] = [];

/** By namespace: a role of one namespace says nothing in another. */
function boundRoles(
  roles: readonly Config<ServiceRole>[],
  bindings: readonly Config<ServiceRoleBinding>[],
  memo: Memo,
): readonly { readonly namespace: string; readonly stage: Stage<NamespaceRoles> }[] {
  const rolesIn = groupBy(roles, ({ meta }) => meta.namespace);
  const bindingsIn = groupBy(bindings, ({ meta }) => meta.namespace);
  return [...new Set([...rolesIn.keys(), ...bindingsIn.keys()])].sort().map((namespace) => ({
    namespace,
    stage: rolesOfNamespace(memo, {
      roles: rolesIn.get(namespace) ?? nothing,
      bindings: bindingsIn.get(namespace) ?? nothing,
    }),
  }));
}

const rolesOfNamespace = query(
  "bound roles",
  { roles: "elements", bindings: "elements" },
  ({
    roles,
    bindings,
  }: {
    readonly roles: readonly Config<ServiceRole>[];
    readonly bindings: readonly Config<ServiceRoleBinding>[];
  }) => bindRoles(roles, bindings),
);
