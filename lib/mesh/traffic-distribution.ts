import type { Service } from "../registry/service.ts";

const network = "topology.istio.io/network";
const region = "topology.kubernetes.io/region";
const zone = "topology.kubernetes.io/zone";
const subzone = "topology.istio.io/subzone";
const node = "kubernetes.io/hostname";

/**
 * @see docs/how-istio-does-it/clusters.md#locality-settings
 * @see istio 1.30.3 pilot/pkg/networking/core/loadbalancer/loadbalancer.go, GetLocalityLbSetting
 */
const labels: Readonly<Record<Service["attributes"]["trafficDistribution"], readonly string[]>> = {
  Any: [],
  // Kubernetes' older word for the same zone.
  PreferClose: [network, region, zone],
  PreferSameZone: [network, region, zone],
  PreferSameNode: [network, region, zone, subzone, node],
};

/** What a service's traffic distribution means as failover priorities, the farthest difference first; empty: nothing. */
export function distributionLabels(service: Service): readonly string[] {
  return labels[service.attributes.trafficDistribution];
}
