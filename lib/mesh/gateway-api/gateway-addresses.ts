import { isIpAddress } from "../../config/values/ip-address.ts";
import type { Endpoint, Service } from "../../registry/service.ts";
import { serviceAddresses } from "../hosts/service-address.ts";

/** Services and endpoints that a Gateway's status needs; reads are tracked (`lib/incremental/tracked-query.ts`). */
export interface AddressSource {
  service(hostname: string, namespace: string): Service | undefined;
  /** Namespaces that have a service of a host, sorted. */
  namespacesWith(hostname: string): readonly string[];
  /** All endpoints of a service. */
  endpoints(service: Service): readonly Endpoint[];
}

/** Where a Gateway can be reached. */
export interface GatewayAddresses {
  /** `host:port` of its services that have endpoints, sorted. */
  readonly internal: readonly string[];
  readonly internalAddresses: readonly string[];
  /** Addresses outside of the cluster, sorted. */
  readonly external: readonly string[];
  /** Hosts of load balancers that have no address yet. */
  readonly pending: readonly string[];
  /** Sorted. */
  readonly warnings: readonly string[];
  /** What is warned of may pass by itself. */
  readonly isUsable: boolean;
}

const managedLabel = "gateway.istio.io/managed";

/** @see istio 1.30.3 pilot/pkg/config/kube/gatewaycommon/context.go, ResolveGatewayInstances */
export function gatewayAddresses(
  namespace: string,
  hosts: readonly string[],
  ports: readonly number[],
  source: AddressSource,
): GatewayAddresses {
  const internal = new Set<string>();
  const internalAddresses = new Set<string>();
  const external = new Set<string>();
  const pending = new Set<string>();
  const warnings: string[] = [];
  let isUsable = true;
  for (const host of hosts) {
    const service = source.service(host, namespace);
    if (service === undefined) {
      warnings.push(notFound(host, namespace, source.namespacesWith(host)));
      isUsable = false;
      continue;
    }
    const endpoints = source.endpoints(service);
    for (const port of new Set(ports)) {
      if (behindPort(service, endpoints, port).length === 0) {
        const missing = missingPort(service, endpoints, host, port);
        if (missing === undefined) continue;
        warnings.push(missing.warning);
        isUsable &&= missing.isUsable;
        continue;
      }
      internal.add(`${host}:${port}`);
      const [clusterId = ""] = service.clusterVips.keys();
      const perspective = { clusterId, ipMode: "dual", autoAllocatedAddresses: false } as const;
      for (const address of serviceAddresses(service, perspective)) internalAddresses.add(address);
      const addresses = [...service.attributes.clusterExternalAddresses.values()].flat();
      for (const address of addresses) external.add(address);
      if (addresses.length > 0 || service.attributes.type !== "LoadBalancer" || pending.has(host)) continue;
      warnings.push(`address pending for hostname "${host}"`);
      pending.add(host);
    }
  }
  return {
    internal: [...internal].sort(),
    internalAddresses: [...internalAddresses].sort(),
    external: [...external].sort(),
    pending: [...pending].sort(),
    warnings: warnings.sort(),
    isUsable,
  };
}

function notFound(host: string, namespace: string, elsewhere: readonly string[]): string {
  if (elsewhere.length === 0) return `hostname "${host}" not found`;
  const quoted = elsewhere.map((other) => `"${other}"`).join(", ");
  return `hostname "${host}" not found in namespace "${namespace}", but it was found in namespace(s) ${quoted}`;
}

function behindPort(service: Service, endpoints: readonly Endpoint[], number: number): readonly Endpoint[] {
  const port = service.ports.find((one) => one.port === number);
  if (port === undefined) return [];
  return endpoints.filter(({ servicePortName, servicePortNumber }) =>
    servicePortNumber === undefined ? servicePortName === port.name : servicePortNumber === number,
  );
}

function missingPort(
  service: Service,
  endpoints: readonly Endpoint[],
  host: string,
  port: number,
): { readonly warning: string; readonly isUsable: boolean } | undefined {
  if (endpoints.length === 0) return { warning: `no instances found for hostname "${host}"`, isUsable: true };
  const warning = `port ${port} not found for hostname "${host}"`;
  const meant = service.ports
    .filter((one) => behindPort(service, endpoints, one.port).some((endpoint) => endpoint.port === port))
    .map((one) => String(one.port))
    .sort();
  if (meant.length > 0) {
    const hint = `the service port should be specified, not the workload port. Did you mean one of these ports: [${meant.join(" ")}]?`;
    return { warning: `${warning} (hint: ${hint})`, isUsable: false };
  }
  // Of a deployed gateway that has the port the endpoints are on their way.
  const isDeployed = service.attributes.labels[managedLabel] !== undefined;
  if (isDeployed && service.ports.some((one) => one.port === port)) return undefined;
  return { warning, isUsable: false };
}

const addressTypeAnnotation = "networking.istio.io/address-type";

/** What a Gateway's status says of its addresses: those outside, else those within, as hosts unless an annotation asks for others. */
export function reportedAddresses(
  reached: GatewayAddresses,
  annotations: Readonly<Record<string, string>>,
): readonly { readonly type: string; readonly value: string }[] {
  const wanted = annotations[addressTypeAnnotation] ?? "Hostname";
  const hosts = reached.internal
    .map((hostAndPort) => hostAndPort.slice(0, hostAndPort.lastIndexOf(":")))
    .filter((host) => !reached.pending.includes(host));
  const within = [
    ...(wanted === "Hostname" ? [] : reached.internalAddresses),
    ...(wanted === "IPAddress" ? [] : hosts),
  ];
  const values = reached.external.length > 0 ? reached.external : [...new Set(within)];
  return values.map((value) => ({ type: isIpAddress(value) ? "IPAddress" : "Hostname", value }));
}
