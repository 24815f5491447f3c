import { networkLabel, nodeLabel, regionLabel, subzoneLabel, zoneLabel } from "../registry/labels.ts";
import type { Service } from "../registry/service.ts";

/**
 * @see docs/how-istio-does-it/clusters.md#locality-settings
 * @see istio 1.30.3 pilot/pkg/networking/core/loadbalancer/loadbalancer.go, GetLocalityLbSetting
 */
const labels: Readonly<Record<Service["attributes"]["trafficDistribution"], readonly string[]>> = {
  Any: [],
  // Kubernetes' older word for the same zone.
  PreferClose: [networkLabel, regionLabel, zoneLabel],
  PreferSameZone: [networkLabel, regionLabel, zoneLabel],
  PreferSameNode: [networkLabel, regionLabel, zoneLabel, subzoneLabel, nodeLabel],
};

/** What a service's traffic distribution means as failover priorities, the farthest difference first; empty: nothing. */
export function distributionLabels(service: Service): readonly string[] {
  return labels[service.attributes.trafficDistribution];
}
