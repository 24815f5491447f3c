/**
 * RBAC of `rbac.istio.io/v1alpha1` as AuthorizationPolicies of a workload: one that leaves alone what RBAC does not govern,
 * and so refuses everything else, and one for each ServiceRole, whose rules name the ports of the services they are about.
 * @see docs/policies.md
 * @see istio 1.4.10 pilot/pkg/security/authz/policy/v1alpha1
 */
import type { Config } from "../../config/config.ts";
import { dryRunAnnotation } from "../../config/dry-run.ts";
import type { AuthorizationPolicy, Rule } from "../../config/kinds/authorization-policy.ts";
import type { RbacConfig } from "../../config/kinds/legacy/service-role.ts";
import { groupBy } from "../group-by.ts";
import { type ConvertedAccess, grantsOn } from "./access-rule.ts";
import type { BoundRole, NamespaceRoles } from "./bound-roles.ts";
import { convertedConfig } from "./converted-config.ts";
import { isEnforced } from "./rbac-config.ts";
import type { ConstrainedWorkload, ServedPort } from "./served-port.ts";
import type { ConvertedSubject } from "./subject.ts";
import { scopedConditions, type TokenScope } from "./token-scope.ts";

/** What RBAC of a workload is worked out from. */
export interface RbacSources {
  readonly config: Config<RbacConfig>;
  rolesOf(namespace: string): NamespaceRoles;
  tokensOn(port: ServedPort): TokenScope;
}

/** Empty where no port of the workload is governed. */
export function rbacPolicies(
  workload: ConstrainedWorkload,
  ports: readonly ServedPort[],
  sources: RbacSources,
): readonly Config<AuthorizationPolicy>[] {
  const { config } = sources;
  const governed = ports.filter(({ service }) => isEnforced(config.spec, service));
  if (governed.length === 0) return [];
  const dryRun = config.spec.enforcementMode === "PERMISSIVE";
  const others: Rule = { to: [{ operation: { notPorts: numbersOf(governed) } }] };
  const name = config.meta.kind === "ClusterRbacConfig" ? "cluster-rbac-config" : "rbac-config";
  const namespace = config.meta.namespace || workload.rootNamespace;
  const byNamespace = groupBy(governed, ({ service }) => service.namespace);
  return [
    allowing(config, { name, namespace, dryRun }, [others]),
    ...[...byNamespace].flatMap(([of, governedThere]) =>
      sources.rolesOf(of).roles.flatMap((bound) => rolePolicies(bound, workload, governedThere, dryRun, sources)),
    ),
  ];
}

/** What a role allows, and what it would allow if the bindings that are only tried out counted. */
function rolePolicies(
  { role, rules, enforced, permissive }: BoundRole,
  workload: ConstrainedWorkload,
  ports: readonly ServedPort[],
  dryRunOfAll: boolean,
  sources: RbacSources,
): readonly Config<AuthorizationPolicy>[] {
  const granted = rules
    .map((rule) => ({ rule, on: ports.filter((port) => grantsOn(rule, port, workload)) }))
    .filter(({ on }) => on.length > 0);
  const policy = (subjects: readonly ConvertedSubject[], dryRun: boolean): readonly Config<AuthorizationPolicy>[] => {
    const written = granted.flatMap(({ rule, on }) =>
      subjects.flatMap((subject) => rulesFor(rule, subject, on, sources)),
    );
    if (written.length === 0) return [];
    const name = `service-role-${role.meta.name}`;
    return [allowing(role, { name, namespace: role.meta.namespace, dryRun }, written)];
  };
  if (dryRunOfAll) return policy([...enforced, ...permissive], true);
  return [...policy(enforced, false), ...policy(permissive, true)];
}

/** A rule for each way in which the ports understand what the subject says of tokens; mostly one. */
function rulesFor(
  access: ConvertedAccess,
  subject: ConvertedSubject,
  ports: readonly ServedPort[],
  { tokensOn }: RbacSources,
): readonly Rule[] {
  const byMeaning = groupBy(ports, (port) => JSON.stringify(scopedConditions(subject.when, tokensOn(port)) ?? null));
  return [...byMeaning.values()].flatMap((alike): readonly Rule[] => {
    const [port] = alike;
    const conditions = port === undefined ? undefined : scopedConditions(subject.when, tokensOn(port));
    if (conditions === undefined) return [];
    const when = [...access.when, ...conditions];
    return [
      {
        ...(Object.keys(subject.source).length === 0 ? {} : { from: [{ source: subject.source }] }),
        to: [{ operation: { ...access.operation, ports: numbersOf(alike) } }],
        ...(when.length === 0 ? {} : { when }),
      },
    ];
  });
}

const numbersOf = (ports: readonly ServedPort[]): readonly string[] => ports.map(({ number }) => String(number));

interface PolicyName {
  readonly name: string;
  readonly namespace: string;
  readonly dryRun: boolean;
}

function allowing(
  origin: Config,
  { name, namespace, dryRun }: PolicyName,
  rules: readonly Rule[],
): Config<AuthorizationPolicy> {
  const annotations = dryRun ? { [dryRunAnnotation]: "true" } : {};
  return convertedConfig(origin, { kind: "AuthorizationPolicy", name, namespace, annotations, spec: { rules } });
}
