import { fieldsOf, listOf, textOf } from "../../config/untyped.ts";
import { serviceNameLabel } from "./endpoint-slice.ts";
import type { KubernetesObject } from "./object.ts";

/**
 * An Endpoints object as the slices that say the same, one for each subset: what Istio up to 1.4 read, and what a
 * source may hand in for a cluster that has no slices. Addresses that are not ready are left out, as those releases
 * did; ports are tied to service ports by name.
 */
export function slicesOfEndpoints(endpoints: KubernetesObject): readonly KubernetesObject[] {
  const { metadata, origin } = endpoints;
  return listOf(endpoints.subsets).map((subset, index): KubernetesObject => {
    const { addresses, ports } = fieldsOf(subset);
    return {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: `${metadata.name}-${index}`,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        labels: { [serviceNameLabel]: metadata.name },
      },
      addressType: "IPv4",
      endpoints: listOf(addresses).map((entry) => {
        const { ip, targetRef } = fieldsOf(entry);
        return {
          addresses: [textOf(ip)],
          conditions: { ready: true },
          ...(targetRef === undefined ? {} : { targetRef }),
        };
      }),
      ports: listOf(ports),
      origin,
    };
  });
}
