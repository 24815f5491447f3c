import type { ServiceAttributes } from "./service.ts";

type TrafficDistribution = ServiceAttributes["trafficDistribution"];

/** Annotation of services, namespaces and ServiceEntries. */
export const trafficDistributionAnnotation = "networking.istio.io/traffic-distribution";

const known: ReadonlyMap<string, TrafficDistribution> = new Map<string, TrafficDistribution>([
  ["PreferClose", "PreferClose"],
  ["PreferSameZone", "PreferSameZone"],
  ["PreferSameNode", "PreferSameNode"],
]);

/** The first of some texts that states something counts; one that is not known means any endpoint. */
export function trafficDistributionOf(...stated: readonly (string | undefined)[]): TrafficDistribution {
  const first = stated.find((text) => text !== undefined && text !== "");
  return known.get(first ?? "") ?? "Any";
}
