import { byCodePoint, type Diagnostic, type Origin, type Stage } from "../../base/diagnostic.ts";
import type { Labels } from "../../config/values/labels.ts";
import type { RegistryContent } from "../changes/registry-content.ts";
import { serviceKey } from "../changes/registry-state.ts";
import { keepSame, keepSameItems } from "../changes/same.ts";
import { tlsModeLabel } from "../labels.ts";
import { plainAttributes, plainEndpoint, plainService } from "../origin/plain-parts.ts";
import { parseProtocol } from "../protocol.ts";
import { type Endpoint, type Protocol, type Service, type ServicePort, spiffeUri } from "../service.ts";
import { type ConsulInstance, instanceOrder } from "./catalog.ts";

export interface ConsulOptions {
  readonly trustDomain: string;
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

/** What a service answers as. */
export interface ConsulHost {
  readonly host: string;
  readonly ports: readonly number[];
}

export function consulHost({ name, instances }: ConsulListing): ConsulHost {
  return { host: consulHostname(name), ports: [...new Set(instances.map(({ port }) => port))].sort((a, b) => a - b) };
}

/** The tags with a bar, `key|value`; what stands after a second bar does not count. */
export function labelsOfTags(tags: readonly string[]): Labels {
  const labels: Record<string, string> = {};
  for (const tag of tags) {
    const [key, value] = tag.split("|");
    if (key !== undefined && value !== undefined) labels[key] = value;
  }
  return labels;
}

/** Of the meta that a service is registered with, what is no label but says how it is reached. */
const notLabels: ReadonlySet<string> = new Set(["protocol", "external"]);

/** Labels are the pairs of a service's meta, as Consul's own tools write them, and over those its tags, which Istio read alone. */
function labelsOf({ tags, serviceMeta }: ConsulInstance, { release }: ConsulOptions): Labels {
  if (release === "0.8") return labelsOfTags(tags);
  const meta = Object.entries(serviceMeta).filter(([key]) => !notLabels.has(key));
  return { ...Object.fromEntries(meta), ...labelsOfTags(tags) };
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

/** The instances that one datacentre has of a service, and where that is written. */
export interface ConsulListing {
  readonly name: string;
  readonly instances: readonly ConsulInstance[];
  readonly origin: Origin;
}

function endpointOf(instance: ConsulInstance, port: ServicePort, options: ConsulOptions): Endpoint {
  const labels = labelsOf(instance, options);
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

function convertService(name: string, listings: readonly ConsulListing[], options: ConsulOptions): ConsulService {
  const placed = listings
    .flatMap(({ instances, origin }) => instances.map((instance) => ({ instance, origin })))
    .sort((a, b) => instanceOrder(a.instance, b.instance));
  const ports = new Map<number, ServicePort>();
  const diagnostics: Diagnostic[] = [];
  let external = "";
  for (const { instance, origin } of placed) {
    const port = portOf(instance, options);
    const known = ports.get(port.port);
    external ||= metaOf(instance, options).external ?? "";
    if (known === undefined) ports.set(port.port, port);
    else if (known.protocol !== port.protocol) {
      diagnostics.push({
        code: "consul-port-protocols-differ",
        severity: "warning",
        origin,
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
    origins: listings.map(({ origin }) => origin),
  };
  const endpoints = placed.flatMap(({ instance }) => {
    const port = ports.get(instance.port);
    return port === undefined ? [] : [endpointOf(instance, port, options)];
  });
  return { service, endpoints, diagnostics };
}

/**
 * The model of what Consul's catalogues hold: a service for each name, with the instances of all datacentres.
 *
 * @param listings in any order
 * @param former of which what did not change is taken, so that it keeps its identity
 * @see docs/how-istio-does-it/consul.md#conversion
 */
export function consulContent(
  listings: readonly ConsulListing[],
  options: ConsulOptions,
  former?: RegistryContent,
): Stage<RegistryContent> {
  const sorted = [...listings].sort((a, b) => byCodePoint(a.name, b.name) || byPlace(a.origin, b.origin));
  const byName = Map.groupBy(
    sorted.filter(({ instances }) => instances.length > 0),
    ({ name }) => name,
  );
  const converted = [...byName].map(([name, list]) => convertService(name, list, options));
  const endpoints = converted.map(({ service, endpoints: list }) => {
    const key = serviceKey(service);
    return [key, keepSame(former?.endpoints.get(key), list)] as const;
  });
  return {
    value: {
      provider: "Consul",
      services: keepSameItems(
        former?.services,
        converted.map(({ service }) => service),
        serviceKey,
      ),
      endpoints: new Map(endpoints),
    },
    diagnostics: converted.flatMap(({ diagnostics }) => diagnostics),
  };
}

const byPlace = (a: Origin, b: Origin): number =>
  byCodePoint(a.key.namespace, b.key.namespace) || byCodePoint(a.file, b.file);
