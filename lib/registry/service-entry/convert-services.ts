import type { Diagnostic } from "../../base/diagnostic.ts";
import { fieldsOf, listOf, textOf } from "../../base/untyped.ts";
import { type Config, keyOf } from "../../config/config.ts";
import type { ServiceEntry, ServiceEntryResolution } from "../../config/kinds/service-entry.ts";
import { ipFamily, isIpAddress, readIpRange } from "../../config/values/ip-address.ts";
import { parseProtocol } from "../protocol.ts";
import type { Resolution, Service, ServicePort } from "../service.ts";
import { trafficDistributionAnnotation, trafficDistributionOf } from "../traffic-distribution.ts";

const resolutions: Readonly<Record<ServiceEntryResolution, Resolution>> = {
  NONE: "Passthrough",
  STATIC: "ClientSideLB",
  DNS: "DNSLB",
  DNS_ROUND_ROBIN: "DNSRoundRobinLB",
  DYNAMIC_DNS: "DynamicDNS",
};

const noAddress = "0.0.0.0";

/**
 * A service's address as the model has it: an IP as it is, a range that holds one address as that address, any other
 * range as it is written; undefined for what is neither.
 */
export function serviceAddress(text: string): string | undefined {
  const range = readIpRange(text);
  if (range === undefined) return undefined;
  const [address = text] = text.split("/");
  return range.bits === (ipFamily(address) === "IPv4" ? 32 : 128) ? address : text;
}

/** Addresses that the allocator wrote to the status, by host: the last of each family. */
function allocatedAddresses(status: unknown): ReadonlyMap<string, { readonly v4: string; readonly v6: string }> {
  const byHost = new Map<string, { v4: string; v6: string }>();
  for (const entry of listOf(fieldsOf(status).addresses)) {
    const host = textOf(fieldsOf(entry).host);
    const value = textOf(fieldsOf(entry).value);
    if (host === "" || !isIpAddress(value)) continue;
    const known = byHost.get(host) ?? { v4: "", v6: "" };
    if (ipFamily(value) === "IPv6") known.v6 = value;
    else known.v4 = value;
    byHost.set(host, known);
  }
  return byHost;
}

/** Ports of a ServiceEntry as service ports. */
function portsOf(spec: ServiceEntry): readonly ServicePort[] {
  return (spec.ports ?? []).map(({ name, number, protocol }) => ({
    name,
    port: number,
    protocol: parseProtocol(protocol ?? ""),
  }));
}

function passthroughTargetPorts(spec: ServiceEntry): ReadonlyMap<number, number> | undefined {
  if ((spec.resolution ?? "NONE") !== "NONE") return undefined;
  const ports = new Map<number, number>();
  for (const { number, targetPort } of spec.ports ?? []) {
    if (targetPort !== undefined && targetPort > 0) ports.set(number, targetPort);
  }
  return ports.size === 0 ? undefined : ports;
}

/** Of an entry that was made for a destination of routes alone; nobody can write one. */
export const routesOnlyAnnotation = "internal.portolan/routes-only";

const isRoutesOnly = ({ meta, madeFrom }: Config): boolean =>
  madeFrom !== undefined && meta.annotations[routesOnlyAnnotation] === "true";

/** The services of one ServiceEntry. */
export interface EntryServices {
  /** Host by host, within a host address by address, both as written. */
  readonly services: readonly Service[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * One service per host and address; an entry without addresses gives one per host, and one whose addresses are all
 * unreadable gives none, which is noted.
 * @see docs/how-istio-does-it/service-entries.md#services-of-an-entry
 */
export function entryServices(config: Config<ServiceEntry>): EntryServices {
  const { meta, spec, origin } = config;
  const written = spec.addresses ?? [];
  const addresses = written.map(serviceAddress).filter((address) => address !== undefined);
  const diagnostics: Diagnostic[] = [];
  if (written.length > 0 && addresses.length === 0) {
    diagnostics.push({
      code: "service-entry-without-valid-address",
      severity: "warning",
      origin: { ...origin, key: keyOf(config) },
      path: ["spec", "addresses"],
      message: `none of the addresses of ${meta.namespace}/${meta.name} is an IP address or a range, so it makes no service`,
      hint: "write IP addresses or CIDR ranges, or leave addresses out",
    });
    return { services: [], diagnostics };
  }
  const allocated = allocatedAddresses(config.status);
  const targets = passthroughTargetPorts(spec);
  const selector = spec.workloadSelector?.labels;
  const services = spec.hosts.flatMap((hostname) =>
    (addresses.length === 0 ? [noAddress] : addresses).map(
      (address): Service => ({
        attributes: {
          provider: "External",
          name: hostname,
          namespace: meta.namespace,
          labels: meta.labels,
          exportTo: spec.exportTo === undefined || spec.exportTo.length === 0 ? undefined : spec.exportTo,
          selector: selector === undefined || Object.keys(selector).length === 0 ? undefined : selector,
          type: "",
          objectName: meta.name,
          clusterExternalAddresses: new Map(),
          clusterExternalPorts: new Map(),
          trafficDistribution: trafficDistributionOf(meta.annotations[trafficDistributionAnnotation]),
          nodeLocal: false,
          publishNotReadyAddresses: false,
          ...(targets === undefined ? {} : { passthroughTargetPorts: targets }),
          ...(meta.annotations["istio.io/connect-strategy"] === "RACE_FIRST_TCP_CONNECT"
            ? { racesConnections: true }
            : {}),
          ...(isRoutesOnly(config) ? { routesOnly: true } : {}),
          aliases: [],
        },
        hostname,
        ports: portsOf(spec),
        defaultAddress: address,
        autoAllocatedIPv4: addresses.length === 0 ? (allocated.get(hostname)?.v4 ?? "") : "",
        autoAllocatedIPv6: addresses.length === 0 ? (allocated.get(hostname)?.v6 ?? "") : "",
        clusterVips: new Map(),
        resolution: resolutions[spec.resolution ?? "NONE"],
        meshExternal: (spec.location ?? "MESH_EXTERNAL") === "MESH_EXTERNAL",
        serviceAccounts: [...(spec.subjectAltNames ?? [])].sort(),
        creationTimestampMs: meta.creationTimestampMs,
        resourceVersion: meta.resourceVersion,
        origins: [origin],
      }),
    ),
  );
  return { services, diagnostics };
}
