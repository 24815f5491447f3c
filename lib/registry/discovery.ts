import { isSubset, type Labels } from "../config/labels.ts";
import { plainEndpoint } from "./plain-parts.ts";
import type { ProxyQuery } from "./proxy-query.ts";
import { type RegistryState, serviceKey } from "./registry-state.ts";
import type { Endpoint, Provider, Service, ServiceInstance, ServicePort, ServiceTarget, Workload } from "./service.ts";

/**
 * The questions asked of a registry.
 * @see docs/how-istio-does-it/services.md#what-registries-are-asked
 */
export interface ServiceDiscovery {
  /** Oldest first. */
  services(): readonly Service[];
  /** The first service of a host; several namespaces may declare one. */
  service(hostname: string): Service | undefined;
  /**
   * Instances behind one port of a service.
   *
   * @param port service port; 0 means any
   * @param labels the instance must have all pairs of one of these sets; no sets mean no condition
   */
  instancesByPort(service: Service, port: number, labels: readonly Labels[]): readonly ServiceInstance[];
  /** What the proxy's own workload serves, oldest service first. */
  proxyServiceInstances(proxy: ProxyQuery): readonly ServiceInstance[];
  /** Labels of the proxy's workload; none for a proxy that the registry does not know. */
  proxyWorkloadLabels(proxy: ProxyQuery): readonly Labels[];
}

export type RegistryEvent = "add" | "update" | "delete";

/**
 * The side of a registry that speaks up by itself. Handlers are appended before `run`, and are called in order, one
 * event at a time, when the registry already answers with the new state.
 */
export interface Controller {
  appendServiceHandler(handler: (service: Service, event: RegistryEvent) => void): void;
  appendInstanceHandler(handler: (instance: ServiceInstance, event: RegistryEvent) => void): void;
  /** Follows the origin until the signal says stop; what fails on the way is retried and told by `health`. */
  run(signal: AbortSignal): Promise<void>;
}

/** A backend as the aggregate sees it. */
export interface Registry extends ServiceDiscovery, Controller {
  readonly provider: Provider;
  /** "" for a registry that belongs to no cluster: its services are not merged with those of others. */
  readonly clusterId: string;
  readonly health: () => RegistryHealth;
}

/**
 * `never`: nothing was read yet, so the registry knows nothing, which is not the same as there being nothing;
 * `stale`: the last attempt failed and the answers are those of the last good one.
 */
export interface RegistryHealth {
  readonly status: "never" | "fresh" | "stale";
  /** Why the last attempt failed; "" while fresh. */
  readonly reason: string;
}

/** Service port that an endpoint is behind: joined by number where the endpoint says one, else by name. */
function portOfEndpoint(service: Service, endpoint: Endpoint): ServicePort | undefined {
  const { servicePortNumber, servicePortName } = endpoint;
  return service.ports.find((port) =>
    servicePortNumber === undefined ? port.name === servicePortName : port.port === servicePortNumber,
  );
}

/** Every endpoint of a service with the port that it is behind. */
export function instancesOf(service: Service, endpoints: readonly Endpoint[]): readonly ServiceInstance[] {
  return endpoints.flatMap((endpoint) => {
    const servicePort = portOfEndpoint(service, endpoint);
    return servicePort === undefined ? [] : [{ service, servicePort, endpoint }];
  });
}

/** The endpoint that a workload would be behind one of its own ports, where no list of endpoints holds it (yet). */
function ownEndpoint(workload: Workload | undefined, target: ServiceTarget, proxy: ProxyQuery): Endpoint {
  return {
    ...plainEndpoint,
    addresses: proxy.addresses.slice(0, 1),
    port: target.targetPort,
    servicePortName: target.servicePort.name,
    labels: workload?.labels ?? proxy.labels,
    locality: { label: workload?.locality ?? "", clusterId: workload?.clusterId ?? proxy.clusterId },
    network: workload?.network ?? "",
    tlsMode: "disabled",
    serviceAccount: "",
    namespace: proxy.namespace,
    workloadName: workload?.name ?? "",
    nodeName: workload?.nodeName ?? "",
    provider: target.service.attributes.provider,
  };
}

/** Answers the questions from a frozen state; the index by host is made on first use. */
export function discoveryOf(state: RegistryState): ServiceDiscovery {
  let byHost: ReadonlyMap<string, Service> | undefined;
  const endpointsOf = (service: Service): readonly Endpoint[] => state.endpoints.get(serviceKey(service)) ?? [];
  return {
    services: () => state.services,
    service(hostname) {
      byHost ??= new Map(state.services.toReversed().map((service) => [service.hostname, service]));
      return byHost.get(hostname);
    },
    instancesByPort: (service, port, labels) =>
      instancesOf(service, endpointsOf(service)).filter(
        ({ servicePort, endpoint }) =>
          (port === 0 || servicePort.port === port) &&
          (labels.length === 0 || labels.some((set) => isSubset(set, endpoint.labels))),
      ),
    proxyServiceInstances(proxy) {
      const workload = state.workload(proxy);
      return state.serviceTargets(proxy).map((target) => {
        const { service, servicePort, targetPort } = target;
        const listed = endpointsOf(service).find(
          (endpoint) =>
            endpoint.port === targetPort &&
            portOfEndpoint(service, endpoint)?.port === servicePort.port &&
            endpoint.addresses.some((address) => proxy.addresses.includes(address)),
        );
        return { service, servicePort, endpoint: listed ?? ownEndpoint(workload, target, proxy) };
      });
    },
    proxyWorkloadLabels(proxy) {
      const workload = state.workload(proxy);
      return workload === undefined ? [] : [workload.labels];
    },
  };
}
