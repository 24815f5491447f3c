import type { SelectableWorkload } from "../../service-entry/workload.ts";
import { endpointOfPod } from "../endpoint-slice.ts";
import type { ClusterSettings } from "../settings.ts";
import type { Pod } from "./pod.ts";

/** The pod as something that a ServiceEntry's selector can choose; undefined unless it is live and ready. */
export function selectablePod(pod: Pod, settings: ClusterSettings): SelectableWorkload | undefined {
  const [address] = pod.workload.addresses;
  if (!pod.live || !pod.workload.ready || address === undefined) return undefined;
  return {
    kind: "Pod",
    namespace: pod.workload.namespace,
    name: pod.workload.name,
    labels: pod.workload.labels,
    endpoint: endpointOfPod(pod, address, settings),
    ports: pod.namedPorts,
    dnsOnly: false,
    workload: pod.workload,
  };
}
