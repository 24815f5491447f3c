import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { LocalityLoadBalancerSetting, ZoneAwareLoadBalancerSetting } from "../../config/kinds/destination-rule.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import { distributionLabels } from "../../mesh/traffic-distribution.ts";
import type { Service } from "../../registry/service.ts";
import type { EffectiveTrafficPolicy } from "../clusters/traffic-policy.ts";

/** What decides how endpoints of other localities are used. */
export interface LocalityRouting {
  /** undefined: localities play no part. */
  readonly setting: LocalityLoadBalancerSetting | undefined;
  /** undefined: Envoy does not look at zones; where it does, `setting` is undefined. */
  readonly zones?: ZoneAwareLoadBalancerSetting;
  /** Failover works: something takes a failing endpoint out (outlier detection), or the service asks for closeness. */
  readonly failover: boolean;
}

/** Those who call a service are to stay near. */
const isDistributed = (service: Service): boolean => service.attributes.trafficDistribution !== "Any";

/**
 * Of a service with a traffic distribution endpoints are sent that are not ready, so that Envoy knows how much of a zone is well. Newer
 * releases of Istio send them of every service, unless a minimum of healthy ones is asked for: below it, Envoy would call those too.
 */
export function sendsUnhealthyEndpoints(
  service: Service,
  policy: EffectiveTrafficPolicy | undefined,
  mesh: MeshSettings,
): boolean {
  const least = policy?.outlierDetection?.minHealthPercent ?? 0;
  return isDistributed(service) || (mesh.rules.sendsUnreadyEndpoints && least <= 0);
}

/** A rule's setting, else the service's wish, else the mesh's, of which zones come before localities. @see docs/how-istio-does-it/clusters.md#locality-settings */
export function localityRouting(
  service: Service,
  policy: EffectiveTrafficPolicy | undefined,
  mesh: MeshSettings,
): LocalityRouting {
  const failover = policy?.outlierDetection !== undefined;
  const own = policy?.loadBalancer?.localityLbSetting;
  if (own !== undefined) return { setting: own.enabled === false ? undefined : own, failover };
  const ownZones = policy?.loadBalancer?.zoneAwareLbSetting;
  if (ownZones !== undefined) return { setting: undefined, zones: ownZones, failover };
  if (isDistributed(service)) {
    return { setting: { enabled: true, failoverPriority: distributionLabels(service) }, failover: true };
  }
  if (mesh.zoneAwareLbSetting !== undefined) return { setting: undefined, zones: mesh.zoneAwareLbSetting, failover };
  return { setting: mesh.localityLbSetting.enabled === false ? undefined : mesh.localityLbSetting, failover };
}

/** Whether a cluster must weigh its localities: only where somebody stated how. */
export function weighsLocalities(routing: LocalityRouting): boolean {
  const { setting, failover } = routing;
  if (setting === undefined) return false;
  if ((setting.distribute ?? []).length > 0) return true;
  return failover && ((setting.failover ?? []).length > 0 || (setting.failoverPriority ?? []).length > 0);
}

/** How Envoy looks at zones: by default it does where there are enough endpoints. */
export function zoneAwareConfig({
  zones,
}: LocalityRouting): Pick<NonNullable<ClusterJson["commonLbConfig"]>, "zoneAwareLbConfig"> | undefined {
  if (zones === undefined) return undefined;
  const { enabled, minClusterSize } = zones;
  return {
    zoneAwareLbConfig: {
      // An empty percentage is none of the requests.
      ...(enabled === false ? { routingEnabled: {} } : {}),
      ...(minClusterSize === undefined ? {} : { minClusterSize: String(minClusterSize) }),
    },
  };
}
