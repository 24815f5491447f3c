import type { Diagnostic } from "../../base/diagnostic.ts";
import { type Config, writtenPath } from "../../config/config.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import { isSubset, type Labels } from "../../config/values/labels.ts";
import { query } from "../../incremental/query.ts";
import type { ServiceTarget } from "../../registry/service.ts";
import type { ReleaseRules } from "../release-rules.ts";
import { boundServices, isBoundTo, isForDeployed } from "./bound-services.ts";

/** The Gateways of one workload, in the order given. */
export interface WorkloadGateways {
  readonly gateways: readonly Config<Gateway>[];
  /** Those that do not join the others. */
  readonly leftOut: readonly LeftOut[];
}

/** A Gateway that does not join those that its workload was deployed for. */
interface LeftOut {
  readonly gateway: Config<Gateway>;
  /** Of the Gateways that the workload was deployed for. */
  readonly namespaces: readonly string[];
}

/**
 * Gateways for one of the services that a workload backs, those whose selector is part of its labels, and those that have
 * neither. Where a workload was deployed for Gateways of the Gateway API, the release says whether those of Istio join them from any
 * namespace, or from theirs alone.
 *
 * @param targets of the workload; asked for only where some Gateway is for services
 */
export function gatewaysFor(
  gateways: readonly Config<Gateway>[],
  labels: Labels,
  targets: () => readonly ServiceTarget[],
  { mergesGatewaysAcrossNamespaces }: Pick<ReleaseRules, "mergesGatewaysAcrossNamespaces">,
): WorkloadGateways {
  const applying = gateways.filter((gateway) => {
    const bound = boundServices(gateway);
    if (bound === undefined) return isSubset(gateway.spec.selector ?? {}, labels);
    return targets().some(({ service }) => isBoundTo(bound, service));
  });
  const deployed = new Set(
    mergesGatewaysAcrossNamespaces ? [] : applying.filter(isForDeployed).map(({ meta }) => meta.namespace),
  );
  if (deployed.size === 0) return { gateways: applying, leftOut: [] };
  const joins = (gateway: Config<Gateway>): boolean =>
    boundServices(gateway) !== undefined || deployed.has(gateway.meta.namespace);
  return {
    gateways: applying.filter(joins),
    leftOut: applying.filter((gateway) => !joins(gateway)).map((gateway) => ({ gateway, namespaces: [...deployed] })),
  };
}

/** What is said of a Gateway that is left out. */
export const gatewayLeftOut = query(
  "gateway that is left out",
  { namespaces: "value" },
  ({ gateway, namespaces }: LeftOut): Diagnostic => {
    const where = `namespace ${namespaces.join(", ")}`;
    return {
      code: "no-effect",
      severity: "warning",
      origin: gateway.origin,
      path: writtenPath(gateway, ["spec", "selector"]),
      message: `selects a gateway that was deployed for a Gateway of the Gateway API in ${where}, and has no effect there: such a gateway takes Istio's Gateways from that namespace alone`,
      hint: `move it to ${where}, or set the switch PILOT_ENABLE_STRICT_GATEWAY_MERGING to false`,
    };
  },
);
