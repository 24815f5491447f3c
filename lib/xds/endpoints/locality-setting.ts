import type { LocalityLoadBalancerSetting } from "../../config/kinds/destination-rule.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { distributionLabels } from "../../mesh/traffic-distribution.ts";
import type { Service } from "../../registry/service.ts";
import type { EffectiveTrafficPolicy } from "../clusters/traffic-policy.ts";

/** What decides how endpoints of other localities are used. */
export interface LocalityRouting {
  /** undefined: localities play no part. */
  readonly setting: LocalityLoadBalancerSetting | undefined;
  /** Failover works: something takes a failing endpoint out (outlier detection), or the service asks for closeness. */
  readonly failover: boolean;
}

/** A service with a traffic distribution sends unready endpoints too, so that Envoy knows how much of a zone is well. */
export function sendsUnhealthyEndpoints(service: Service): boolean {
  return service.attributes.trafficDistribution !== "Any";
}

/** A rule's setting, else the service's wish, else the mesh's. @see docs/how-istio-does-it/clusters.md#locality-settings */
export function localityRouting(
  service: Service,
  policy: EffectiveTrafficPolicy | undefined,
  mesh: MeshConfig,
): LocalityRouting {
  const failover = policy?.outlierDetection !== undefined;
  const own = policy?.loadBalancer?.localityLbSetting;
  if (own !== undefined) return { setting: own.enabled === false ? undefined : own, failover };
  if (sendsUnhealthyEndpoints(service)) {
    return { setting: { enabled: true, failoverPriority: distributionLabels(service) }, failover: true };
  }
  return { setting: mesh.localityLbSetting.enabled === false ? undefined : mesh.localityLbSetting, failover };
}

/** Whether a cluster must weigh its localities: only where somebody stated how. */
export function weighsLocalities(routing: LocalityRouting): boolean {
  const { setting, failover } = routing;
  if (setting === undefined) return false;
  if ((setting.distribute ?? []).length > 0) return true;
  return failover && ((setting.failover ?? []).length > 0 || (setting.failoverPriority ?? []).length > 0);
}
