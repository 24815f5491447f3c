import type { Service } from "../registry/service.ts";

const network = "topology.istio.io/network";
const region = "topology.kubernetes.io/region";
const zone = "topology.kubernetes.io/zone";
const subzone = "topology.istio.io/subzone";
const node = "kubernetes.io/hostname";

/** @see Istio 1.30 `pilot/pkg/networking/core/loadbalancer`, `GetLocalityLbSetting` */
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
