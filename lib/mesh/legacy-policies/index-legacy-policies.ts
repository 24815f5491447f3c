/**
 * Authentication policies and RBAC of Istio up to 1.5, converted for each workload into the kinds that followed them.
 *
 * They were written for services, and held on the ports of a workload that services lead to; the newer kinds are written for
 * workloads. So the conversion is done where the ports of a workload are known. The newer kinds win, as in 1.5: a workload
 * that a RequestAuthentication applies to takes no token of an authentication policy, and one that an AuthorizationPolicy
 * selects has no RBAC. (A policy that is only tried out changes nothing; no release with RBAC knew such policies.)
 * @see Istio 1.5 `pilot/pkg/security/{authn/v1beta1,authz/builder}`; model-push 9.4
 */
import type { Config } from "../../config/config.ts";
import type { Stage } from "../../config/diagnostic.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { RbacConfig, ServiceRole, ServiceRoleBinding } from "../../config/kinds/service-role.ts";
import { groupBy } from "../group-by.ts";
import type { ConfigsOf } from "../index/configs-by-kind.ts";
import { isDryRun, type PolicyIndex } from "../index/workload-policies.ts";
import type { Memo } from "../memo/memo.ts";
import { sameList } from "../memo/same.ts";
import type { ServiceIndex } from "../mesh.ts";
import type { WorkloadPolicies } from "../views/views.ts";
import { type AuthenticationIndex, indexAuthentication } from "./authentication-index.ts";
import { bindRoles, type NamespaceRoles, noRoles } from "./bound-roles.ts";
import { diagnoseLegacyPolicies } from "./diagnose.ts";
import { chooseRbacConfig } from "./rbac-config.ts";
import { rbacPolicies } from "./rbac-policies.ts";
import { type ServedPort, type ServedWorkload, servedPorts } from "./served-port.ts";
import { tokenPolicies } from "./token-policies.ts";
import { anyToken } from "./token-scope.ts";

/** What the old kinds add to the policies of a workload. */
export interface LegacyPolicyIndex {
  readonly authentication: AuthenticationIndex;
  /** @param newer what the newer kinds say for the workload */
  policiesOf(workload: ServedWorkload, newer: WorkloadPolicies): ConvertedPolicies;
  /** Label keys that constraints read, by the namespace of the workloads. */
  readonly labelReads: ReadonlyMap<string, readonly string[]>;
  /** True when a constraint reads the service account. */
  readonly readsServiceAccount: boolean;
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
  const authentication = memo([policies, meshPolicies], `legacy authentication|${domain}`, () =>
    indexAuthentication(policies, meshPolicies, domain),
  );
  const { chosen, shadowed } = chooseRbacConfig(cluster, namespaced, rootNamespace);
  const bound = boundRoles(roles, bindings, memo);
  const diagnostics = memo([...sources, services], `legacy diagnostics|${domain}|${rootNamespace}`, () => {
    const { meshPolicy } = authentication;
    const objects = { policies, meshPolicy, chosen, shadowed, roles: bound.flatMap(({ value }) => value.roles) };
    const unconverted = bound.flatMap((stage) => stage.diagnostics);
    return [...unconverted, ...diagnoseLegacyPolicies(objects, services, domain)];
  });
  const rolesIn = new Map(bound.map(({ namespace, value }) => [namespace, value]));
  const policiesIn = byNamespace("Policy", policies, memo);
  const conversion: ConversionSources = { authentication, chosen, rolesIn, policiesIn, rootNamespace, memo };
  return {
    value: {
      authentication,
      policiesOf: (workload, newer) => convert(workload, newer, conversion),
      labelReads: new Map(bound.map(({ namespace, value }) => [namespace, value.labels])),
      readsServiceAccount: bound.some(({ value }) => value.serviceAccount),
    },
    diagnostics,
  };
}

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
  readonly policiesIn: ReadonlyMap<string, readonly Config[]>;
  readonly rootNamespace: string;
  readonly memo: Memo;
}

/** Made once for all workloads that back the same services and are alike in what constraints read. */
function convert(workload: ServedWorkload, newer: WorkloadPolicies, conversion: ConversionSources): ConvertedPolicies {
  const { authentication, chosen, rolesIn, policiesIn, rootNamespace, memo } = conversion;
  const ports = servedPorts(workload);
  const takesRbac = chosen !== undefined && newer.authorization.every(isDryRun);
  const takesTokens = newer.requestAuthentication.every(({ spec }) => (spec.jwtRules ?? []).length === 0);
  const there = [...new Set(ports.map(({ service }) => service.namespace))];
  const rolesOf = (namespace: string): NamespaceRoles => rolesIn.get(namespace) ?? noRoles;
  const read = there.map(rolesOf);
  const from = [
    ...(takesRbac ? [chosen] : []),
    ...(authentication.meshPolicy === undefined ? [] : [authentication.meshPolicy]),
    ...there.flatMap((namespace) => [rolesOf(namespace), policiesIn.get(namespace) ?? nothing]),
    ...new Set(workload.targets.map(({ service }) => service)),
  ];
  const key = [
    takesRbac,
    takesTokens,
    rootNamespace,
    ports,
    read.flatMap(({ labels }) => labels.map((label) => workload.labels[label] ?? null)),
    read.some(({ serviceAccount }) => serviceAccount) ? workload.serviceAccount : null,
  ];
  return memo(from, `legacy policies|${JSON.stringify(key)}`, () => {
    const tokens = takesTokens ? tokenPolicies(ports, authentication, rootNamespace) : undefined;
    const tokensOn = (port: ServedPort) => tokens?.tokensOn(port) ?? anyToken;
    const rbac = takesRbac ? rbacPolicies(workload, ports, { config: chosen, rolesOf, tokensOn }) : [];
    return {
      authorization: [...rbac, ...(tokens?.authorization ?? [])],
      requestAuthentication: tokens?.requestAuthentication ?? [],
    };
  });
}

const nothing: readonly [] = [];

/** By namespace: a role of one namespace says nothing in another. */
function boundRoles(
  roles: readonly Config<ServiceRole>[],
  bindings: readonly Config<ServiceRoleBinding>[],
  memo: Memo,
): readonly (Stage<NamespaceRoles> & { readonly namespace: string })[] {
  const rolesIn = byNamespace("ServiceRole", roles, memo);
  const bindingsIn = byNamespace("ServiceRoleBinding", bindings, memo);
  return [...new Set([...rolesIn.keys(), ...bindingsIn.keys()])].sort().map((namespace) => {
    const [own, given] = [rolesIn.get(namespace) ?? nothing, bindingsIn.get(namespace) ?? nothing];
    return { namespace, ...memo([own, given], "bound roles", () => bindRoles(own, given)) };
  });
}

/** Lists that stay the same as long as their elements do. */
function byNamespace<Spec>(
  kind: string,
  configs: readonly Config<Spec>[],
  memo: Memo,
): ReadonlyMap<string, readonly Config<Spec>[]> {
  return memo([configs], "legacy by namespace", () => {
    const grouped = groupBy(configs, ({ meta }) => meta.namespace);
    return new Map([...grouped].map(([namespace, list]) => [namespace, sameList(memo, `${kind}|${namespace}`, list)]));
  });
}
