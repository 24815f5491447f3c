import { byCodePoint, type Diagnostic, type Origin, type Stage } from "../../config/diagnostic.ts";
import type { Labels } from "../../config/labels.ts";
import { tlsModeLabel } from "../labels.ts";
import { plainAttributes, plainEndpoint, plainService } from "../plain-parts.ts";
import { parseProtocol } from "../protocol.ts";
import type { RegistryContent } from "../registry-content.ts";
import { serviceKey } from "../registry-state.ts";
import { type Endpoint, type Protocol, type Service, type ServicePort, spiffeUri } from "../service.ts";
import type { ConsulInstance } from "./catalog.ts";

export interface ConsulOptions {
  readonly trustDomain: string;
  /** Name of the source in diagnostics and origins. */
  readonly source: string;
  /**
   * `1.1`: protocol and the external mark are in the service's meta, and a port without protocol is TCP; `0.8`: they
   * are in the node's, and it is HTTP.
   */
  readonly release: "0.8" | "1.1";
}

/** Consul has no namespaces; Istio puts everything into this one. */
const namespace = "default";

function consulHostname(name: string): string {
  return `${name}.service.consul`;
}

/** Labels are the tags with a bar, `key|value`; what stands after a second bar does not count. */
export function labelsOfTags(tags: readonly string[]): Labels {
  const labels: Record<string, string> = {};
  for (const tag of tags) {
    const [key, value] = tag.split("|");
    if (key !== undefined && value !== undefined) labels[key] = value;
  }
  return labels;
}

function metaOf(instance: ConsulInstance, options: ConsulOptions): Readonly<Record<string, string>> {
  return options.release === "0.8" ? instance.nodeMeta : instance.serviceMeta;
}

/** Port names are protocols; one that is unknown stays as the name of a TCP port. */
function portOf(instance: ConsulInstance, options: ConsulOptions): ServicePort {
  const name = metaOf(instance, options).protocol || (options.release === "0.8" ? "http" : "tcp");
  const protocol: Protocol = parseProtocol(name);
  return { name, port: instance.port, protocol: protocol === "Unsupported" ? "TCP" : protocol };
}

/** By node, then by service id, so that nothing depends on the order of Consul's answer. */
function byInstance(a: ConsulInstance, b: ConsulInstance): number {
  return byCodePoint(a.nodeId, b.nodeId) || byCodePoint(a.node, b.node) || byCodePoint(a.serviceId, b.serviceId);
}

function originOf(name: string, options: ConsulOptions): Origin {
  return { key: { group: "", kind: "ConsulService", name, namespace: "" }, file: options.source, line: 0 };
}

function endpointOf(instance: ConsulInstance, port: ServicePort, options: ConsulOptions): Endpoint {
  const labels = labelsOfTags(instance.tags);
  return {
    ...plainEndpoint,
    addresses: [instance.serviceAddress || instance.nodeAddress],
    port: instance.port,
    servicePortName: port.name,
    servicePortNumber: port.port,
    labels,
    locality: { label: instance.datacenter, clusterId: "" },
    tlsMode: labels[tlsModeLabel] === "istio" ? "istio" : "disabled",
    serviceAccount: spiffeUri(options.trustDomain, "default", "default"),
    namespace,
    provider: "Consul",
  };
}

interface ConsulService {
  readonly service: Service;
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
}

function convertService(name: string, instances: readonly ConsulInstance[], options: ConsulOptions): ConsulService {
  const ports = new Map<number, ServicePort>();
  const diagnostics: Diagnostic[] = [];
  let external = "";
  for (const instance of instances) {
    const port = portOf(instance, options);
    const known = ports.get(port.port);
    external ||= metaOf(instance, options).external ?? "";
    if (known === undefined) ports.set(port.port, port);
    else if (known.protocol !== port.protocol) {
      diagnostics.push({
        code: "consul-port-protocols-differ",
        severity: "warning",
        origin: originOf(name, options),
        path: [],
        message: `port ${port.port} of ${name} is ${known.name} for one instance and ${port.name} for ${instance.serviceId}; ${known.name} counts`,
        hint: "give all instances on a port the same protocol in their meta",
      });
    }
  }
  const service: Service = {
    ...plainService,
    attributes: {
      ...plainAttributes,
      provider: "Consul",
      name,
      namespace,
      type: "",
      objectName: name,
      ...(external === "" ? {} : { externalName: external }),
    },
    hostname: consulHostname(name),
    ports: [...ports.values()].sort((a, b) => a.port - b.port),
    defaultAddress: "0.0.0.0",
    resolution: external === "" ? "ClientSideLB" : "Passthrough",
    meshExternal: external !== "",
    serviceAccounts: [spiffeUri(options.trustDomain, "default", "default")],
    origins: [originOf(name, options)],
  };
  const endpoints = instances.flatMap((instance) => {
    const port = ports.get(instance.port);
    return port === undefined ? [] : [endpointOf(instance, port, options)];
  });
  return { service, endpoints, diagnostics };
}

/**
 * The model of a Consul catalogue: a service for each name with instances.
 *
 * @param instances of all services, in any order
 * @see docs/how-istio-does-it/consul.md#conversion
 */
export function consulContent(instances: readonly ConsulInstance[], options: ConsulOptions): Stage<RegistryContent> {
  const byName = Map.groupBy([...instances].sort(byInstance), ({ serviceName }) => serviceName);
  const converted = [...byName]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([name, list]) => convertService(name, list, options));
  return {
    value: {
      provider: "Consul",
      services: converted.map(({ service }) => service),
      endpoints: new Map(converted.map(({ service, endpoints }) => [serviceKey(service), endpoints])),
    },
    diagnostics: converted.flatMap(({ diagnostics }) => diagnostics),
  };
}
