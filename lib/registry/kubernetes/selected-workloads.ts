import { isNonEmptySubset } from "../../config/values/labels.ts";
import type { Endpoint } from "../service.ts";
import type { SelectableWorkload } from "../service-entry/workload.ts";
import type { KubernetesService } from "./service.ts";

/** Says whether a Kubernetes service takes a WorkloadEntry of its namespace for one of its own. */
export function takesWorkload(service: KubernetesService, workload: SelectableWorkload): boolean {
  return (
    !workload.dnsOnly &&
    ["ClientSideLB", "DNSLB"].includes(service.service.resolution) &&
    isNonEmptySubset(service.service.attributes.selector, workload.labels)
  );
}

/** Port that a service's port means on a workload; undefined when its target is a name the workload does not have. */
export function workloadPort(
  target: number | string,
  workload: { readonly ports: ReadonlyMap<string, number> },
): number | undefined {
  return typeof target === "number" ? target : workload.ports.get(target);
}

/**
 * Endpoints that the WorkloadEntries of its namespace give a Kubernetes service.
 * @see docs/how-istio-does-it/kubernetes.md#workloadentries-behind-a-service
 */
export function workloadEndpoints(
  service: KubernetesService,
  workloads: readonly SelectableWorkload[],
): readonly Endpoint[] {
  return workloads
    .filter((workload) => takesWorkload(service, workload))
    .flatMap((workload) =>
      service.ports.flatMap((port) => {
        const number = workloadPort(port.target, workload);
        return number === undefined ? [] : [{ ...workload.endpoint, port: number, servicePortName: port.name }];
      }),
    );
}
