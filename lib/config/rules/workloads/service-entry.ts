import { fieldsOf, listOf } from "../../../base/untyped.ts";
import type { ConfigMeta } from "../../config.ts";
import { error, type Finding, type Path, warning } from "../../finding.ts";
import type { ServiceEntry, ServicePort } from "../../kinds/service-entry.ts";
import type { WorkloadEntry } from "../../kinds/workload-entry.ts";
import { isIpAddress } from "../../values/ip-address.ts";
import { maxEntryEndpoints, maxServicePorts, productRules } from "../expansion.ts";
import { exportToRules } from "../export-to.ts";
import { hostOfBlocks, isFqdn, isPartialWildcard, isUnixAddress } from "../names.ts";
import { isHttpProtocol, isKnownProtocol, isTlsProtocol } from "../protocols.ts";
import { labelsSelectorRules } from "../selectors.ts";
import {
  dnsLabelRules,
  duplicates,
  each,
  ipOrCidrRules,
  labelSetRules,
  portRules,
  wildcardDomainRules,
} from "../values.ts";

const maxHosts = 256;
const maxEndpoints = 4096;

/** @see docs/how-istio-does-it/kind-rules.md#serviceentry */
export function* serviceEntryRules(spec: ServiceEntry, meta: ConfigMeta, status?: unknown): Generator<Finding> {
  const selector = [...labelsSelectorRules(spec.workloadSelector, ["workloadSelector"])];
  yield* selector;
  if (selector.some((finding) => finding.severity === "error")) return;
  const { hosts, ports = [], resolution = "NONE" } = spec;
  if (spec.workloadSelector !== undefined && spec.endpoints !== undefined) {
    yield error(
      ["endpoints"],
      "endpoints and workloadSelector exclude each other",
      "keep one of them",
      "conflicting-fields",
    );
  }
  if (hosts.length === 0) yield error(["hosts"], "needs at least one host", "", "missing-field");
  if (hosts.length > maxHosts) yield error(["hosts"], `has more than ${maxHosts} entries`);
  if ((spec.addresses?.length ?? 0) > maxHosts) yield error(["addresses"], `has more than ${maxHosts} entries`);
  if (ports.length > maxHosts) yield error(["ports"], `has more than ${maxHosts} entries`);
  if ((spec.endpoints?.length ?? 0) > maxEndpoints) yield error(["endpoints"], `has more than ${maxEndpoints} entries`);
  yield* expansionRules(spec);
  yield* each(hosts, ["hosts"], function* (host, path) {
    if (host === "*") yield error(path, 'host "*" is not allowed');
    else yield* wildcardDomainRules(host, path);
    if (isPartialWildcard(host) && resolution !== "DYNAMIC_DNS") {
      yield warning(
        path,
        `${JSON.stringify(host)}: Envoy matches wildcards at dots only`,
        'write "*." before the rest',
      );
    }
  });
  yield* each(spec.addresses, ["addresses"], function* (address, path) {
    yield* ipOrCidrRules(address, path);
    if (address.includes("/") && resolution !== "NONE" && resolution !== "STATIC") {
      // Release 0.7, where the kind was ExternalService, took it.
      const isExternalService = meta.version === "v1alpha3" && hosts[0] === hostOfBlocks(meta.name);
      yield (isExternalService ? warning : error)(
        path,
        `a block cannot be resolved by ${resolution}`,
        "use resolution NONE or STATIC",
      );
    }
  });
  yield* portListRules(ports);
  yield* addresslessRules(spec, status);
  yield* resolutionRules(spec);
  if (resolution === "DYNAMIC_DNS" && spec.location === "MESH_INTERNAL" && meta.labels["istio.io/use-waypoint"]) {
    yield error(["location"], "DYNAMIC_DNS inside the mesh cannot have a waypoint", "", "conflicting-fields");
  }
  const mixed = ports.some(({ protocol = "" }) => !isHttpProtocol(protocol) && !isTlsProtocol(protocol));
  if (resolution !== "NONE" && hosts.length > 1 && mixed) {
    yield error(
      ["hosts"],
      "several hosts can only be distinguished on HTTP or TLS ports",
      "write one ServiceEntry for each host",
    );
  }
  yield* exportToRules(spec.exportTo, meta.namespace, true);
}

/** A service for each host and address, with every port; and every endpoint for each host and port. */
function* expansionRules({ hosts, addresses = [], ports = [], endpoints = [] }: ServiceEntry): Generator<Finding> {
  const lengths = { hosts: hosts.length, ports: ports.length };
  yield* productRules({ ...lengths, addresses: addresses.length }, "service ports", maxServicePorts, []);
  yield* productRules({ ...lengths, endpoints: endpoints.length }, "endpoints", maxEntryEndpoints, []);
}

/**
 * TCP ports that are known by their number alone. Whether a controller will allocate addresses is not assumed: until they stand in the
 * status of the entry, proxies have none.
 */
function* addresslessRules(spec: ServiceEntry, status: unknown): Generator<Finding> {
  if (spec.addresses !== undefined || hasAllocatedAddresses(status)) return;
  for (const [index, port] of (spec.ports ?? []).entries()) {
    if (!isPlainTcp(port)) continue;
    yield warning(
      ["ports", index],
      `TCP port ${port.number} has no address, so it takes the connections to every destination on this port that no other service has`,
      "give addresses, or write protocol TLS or HTTPS if the clients name the host by SNI",
    );
  }
}

/** Whether a controller wrote addresses to the status of an entry. */
export const hasAllocatedAddresses = (status: unknown): boolean => listOf(fieldsOf(status).addresses).length > 0;

/** Whether a port has no protocol, or TCP, so that only its address tells one destination from another. */
export function isPlainTcp({ protocol = "" }: ServicePort): boolean {
  return protocol === "" || protocol.toUpperCase() === "TCP";
}

function* portListRules(ports: readonly ServicePort[]): Generator<Finding> {
  for (const [index, name] of duplicates(ports.map((port) => port.name))) {
    yield error(["ports", index, "name"], `port name ${JSON.stringify(name)} is given twice`);
  }
  for (const [index, number] of duplicates(ports.map((port) => port.number))) {
    yield error(["ports", index, "number"], `port ${number} is given twice`);
  }
  yield* each(ports, ["ports"], function* (port, path) {
    yield* dnsLabelRules(port.name, [...path, "name"]);
    yield* portRules(port.number, [...path, "number"]);
    if (port.targetPort !== undefined) yield* portRules(port.targetPort, [...path, "targetPort"]);
    if (port.protocol !== undefined && !isKnownProtocol(port.protocol)) {
      yield error([...path, "protocol"], `${JSON.stringify(port.protocol)} is not a protocol`);
    }
  });
}

function* resolutionRules(spec: ServiceEntry): Generator<Finding> {
  const { hosts, ports = [], endpoints = [], resolution = "NONE" } = spec;
  const portNames = new Set(ports.map((port) => port.name));
  switch (resolution) {
    case "NONE":
      if (spec.endpoints !== undefined) {
        yield error(["endpoints"], "resolution NONE uses no endpoints", "use STATIC or DNS", "conflicting-fields");
      }
      if (spec.workloadSelector !== undefined) {
        yield warning(["workloadSelector"], "has no effect with resolution NONE", "use STATIC");
      }
      return;
    case "STATIC":
      yield* each(endpoints, ["endpoints"], function* (endpoint, path) {
        yield* endpointRules(endpoint, path, { portNames, nameAllowed: false });
        if (endpoint.address?.startsWith("unix://") && ports.length !== 1) {
          yield error([...path, "address"], "a unix socket needs exactly one port of the service");
        }
      });
      return;
    case "DNS":
    case "DNS_ROUND_ROBIN":
      if (endpoints.length === 0) {
        const unresolvable = hosts.findIndex((host) => !isFqdn(host));
        if (unresolvable >= 0) {
          const hint = "give endpoints, or a host without wildcard";
          yield error(["hosts", unresolvable], `${JSON.stringify(hosts[unresolvable])} cannot be resolved`, hint);
        }
      }
      if (resolution === "DNS_ROUND_ROBIN" && endpoints.length > 1) {
        yield error(["endpoints"], "DNS_ROUND_ROBIN takes one endpoint", "use DNS");
      }
      yield* each(endpoints, ["endpoints"], (endpoint, path) =>
        endpointRules(endpoint, path, { portNames, nameAllowed: true }),
      );
      if (
        spec.addresses !== undefined &&
        hosts.length > 1 &&
        ports.some(({ protocol = "" }) => !isHttpProtocol(protocol))
      ) {
        yield warning(["addresses"], "hosts that share addresses cannot be distinguished on TCP ports");
      }
      return;
    case "DYNAMIC_DNS":
      yield* dynamicDnsRules(spec);
  }
}

const dynamicProtocols: ReadonlySet<string> = new Set(["http", "tls", "grpc", "http2"]);

function* dynamicDnsRules(spec: ServiceEntry): Generator<Finding> {
  for (const [index, host] of spec.hosts.entries()) {
    if (!host.startsWith("*"))
      yield error(["hosts", index], `${JSON.stringify(host)} is no wildcard`, "use resolution DNS");
  }
  if (spec.addresses !== undefined)
    yield error(["addresses"], "DYNAMIC_DNS uses no addresses", "", "conflicting-fields");
  if (spec.endpoints !== undefined)
    yield error(["endpoints"], "DYNAMIC_DNS uses no endpoints", "", "conflicting-fields");
  for (const [index, { protocol = "" }] of (spec.ports ?? []).entries()) {
    if (!dynamicProtocols.has(protocol.toLowerCase())) {
      yield error(
        ["ports", index, "protocol"],
        `${JSON.stringify(protocol)} is not supported by DYNAMIC_DNS`,
        "use HTTP, HTTP2, GRPC or TLS",
      );
    }
  }
}

/** Endpoint of a ServiceEntry. */
function* endpointRules(
  endpoint: WorkloadEntry,
  path: Path,
  context: { readonly portNames: ReadonlySet<string>; readonly nameAllowed: boolean },
): Generator<Finding> {
  const { address = "" } = endpoint;
  yield* workloadEntryRules(endpoint, path);
  const literal = address === "" || address.startsWith("unix://") || isIpAddress(address);
  if (context.nameAllowed && (address === "" || address.startsWith("unix://"))) {
    yield error([...path, "address"], "must be an IP address or a domain name", "use STATIC for unix sockets");
  } else if (!context.nameAllowed && !literal && isFqdn(address)) {
    yield error(
      [...path, "address"],
      `${JSON.stringify(address)} must be an address with resolution STATIC`,
      "use DNS",
    );
  }
  for (const name of Object.keys(endpoint.ports ?? {})) {
    if (!context.portNames.has(name)) {
      yield error([...path, "ports", name], `the ServiceEntry has no port named ${JSON.stringify(name)}`);
    }
  }
}

/** @see docs/how-istio-does-it/kind-rules.md#workloadentry */
export function* workloadEntryRules(entry: WorkloadEntry, path: Path): Generator<Finding> {
  const { address, network, ports, labels } = entry;
  const at = [...path, "address"];
  if (address === undefined) {
    if (network === undefined) yield error(at, "is required", "or give network", "missing-field");
    else yield warning(at, "without an address, only gateways of the network reach it");
  } else if (address.startsWith("unix://")) {
    if (!isUnixAddress(address.slice("unix://".length)))
      yield error(at, `${JSON.stringify(address)} is no path of a socket`);
    if (ports !== undefined) yield error([...path, "ports"], "a unix socket has no ports", "", "conflicting-fields");
  } else if (!isIpAddress(address) && !isFqdn(address)) {
    yield error(at, `${JSON.stringify(address)} is neither an IP address, a domain name nor unix://path`);
  }
  for (const [name, number] of Object.entries(ports ?? {})) {
    yield* dnsLabelRules(name, [...path, "ports", name]);
    yield* portRules(number, [...path, "ports", name]);
  }
  yield* labelSetRules(labels, [...path, "labels"]);
}
