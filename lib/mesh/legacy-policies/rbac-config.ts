import { keyText } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { type Finding, info, warning } from "../../config/finding.ts";
import type { RbacConfig, RbacTarget } from "../../config/kinds/legacy/service-role.ts";
import type { NamedService } from "./served-port.ts";

/** The switch of RBAC that counts, and those that it leaves without effect. */
export interface ChosenRbacConfig {
  readonly chosen: Config<RbacConfig> | undefined;
  readonly shadowed: readonly Config<RbacConfig>[];
}

/**
 * A ClusterRbacConfig wins over every RbacConfig. Of those, Istio takes any; here the root namespace's, else the oldest.
 *
 * @param cluster, namespaced oldest first
 * @see docs/policies.md
 * @see istio 1.4.10 pilot/pkg/model/authorization.go
 */
export function chooseRbacConfig(
  cluster: readonly Config<RbacConfig>[],
  namespaced: readonly Config<RbacConfig>[],
  rootNamespace: string,
): ChosenRbacConfig {
  const own = namespaced.filter(({ meta }) => meta.namespace === rootNamespace);
  const others = namespaced.filter(({ meta }) => meta.namespace !== rootNamespace);
  const [chosen, ...shadowed] = [...cluster, ...own, ...others];
  return { chosen, shadowed };
}

/** Are requests to a service refused unless a role allows them? */
export function isEnforced({ mode = "OFF", inclusion, exclusion }: RbacConfig, service: NamedService): boolean {
  switch (mode) {
    case "ON":
      return true;
    case "ON_WITH_INCLUSION":
      return isListed(inclusion, service);
    case "ON_WITH_EXCLUSION":
      return !isListed(exclusion, service);
    default:
      return false;
  }
}

function isListed(target: RbacTarget | undefined, { hostname, namespace }: NamedService): boolean {
  return target?.namespaces?.includes(namespace) === true || target?.services?.includes(hostname) === true;
}

/** What an RbacConfig that another one shadows has to say. */
export function shadowedFinding(chosen: Config<RbacConfig>): Finding {
  return warning(
    [],
    `ignored: ${keyText(chosen.origin.key)} is the one that counts`,
    "keep a single ClusterRbacConfig",
    "legacy-policy-shadowed",
  );
}

/** What the RbacConfig in force became, and what of it names nothing. */
export function rbacConfigFindings(spec: RbacConfig, services: readonly NamedService[]): readonly Finding[] {
  const { mode = "OFF", enforcementMode } = spec;
  if (mode === "OFF") {
    return [info([], "RBAC is off: no ServiceRole has an effect", "remove it together with the ServiceRoles")];
  }
  const enforced = services.filter((service) => isEnforced(spec, service)).length;
  const effect =
    enforcementMode === "PERMISSIVE"
      ? "a dry run (shadow rules) for the ports of"
      : "policies that refuse what no ServiceRole allows, on the ports of";
  return [
    info(
      [],
      `is served as ${effect} ${enforced} service${enforced === 1 ? "" : "s"}; workloads that an AuthorizationPolicy selects, and ports that no service names, are not among them`,
      "write an AuthorizationPolicy without rules for each namespace, and one with rules for each ServiceRole",
      "legacy-policy-converted",
    ),
    ...(mode === "ON_WITH_INCLUSION" ? unknownTargets("inclusion", spec.inclusion, services) : []),
    ...(mode === "ON_WITH_EXCLUSION" ? unknownTargets("exclusion", spec.exclusion, services) : []),
  ];
}

function unknownTargets(
  field: "inclusion" | "exclusion",
  target: RbacTarget | undefined,
  services: readonly NamedService[],
): readonly Finding[] {
  const hosts = new Set(services.map(({ hostname }) => hostname));
  return (target?.services ?? []).flatMap((service, at) =>
    hosts.has(service)
      ? []
      : [
          warning(
            ["spec", field, "services", at],
            `there is no service ${service}`,
            "write the full host name of a service; patterns are not taken here",
            "legacy-service-unknown",
          ),
        ],
  );
}
