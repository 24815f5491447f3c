import type { Config } from "../../config/config.ts";
import type { ServiceEntry, ServicePort } from "../../config/kinds/service-entry.ts";
import { isSubset } from "../../config/values/labels.ts";
import { type Labels, serviceKey } from "../../legacy/service-key.ts";
import { outboundName } from "../clusters/cluster-name.ts";
import { type BuiltCluster, http2Of } from "../clusters/clusters.ts";
import type { Cluster } from "../documents.ts";
import { egressPort } from "../egress-port.ts";
import type { LegacyPort } from "../legacy-world.ts";

/** One destination outside the mesh: a host or a block of addresses of a ServiceEntry, at one of its ports. */
export interface ExternalDestination {
  readonly destination: string;
  readonly port: LegacyPort;
  readonly entry: Config<ServiceEntry>;
  readonly entryPort: ServicePort;
}

/** Every destination of the entries, in their order, port by port. */
export function externalDestinations(entries: readonly Config<ServiceEntry>[]): readonly ExternalDestination[] {
  return entries.flatMap((entry) =>
    (entry.spec.ports ?? []).flatMap((entryPort) =>
      destinationsOf(entry).map((destination) => ({
        destination,
        port: egressPort(entryPort.number, entryPort.protocol ?? "TCP"),
        entry,
        entryPort,
      })),
    ),
  );
}

/** Blocks stood among the hosts then; an entry of blocks alone has been given a host that nobody asks for. */
function destinationsOf({ meta, spec }: Config<ServiceEntry>): readonly string[] {
  const { hosts, addresses = [] } = spec;
  const given = addresses.length > 0 && hosts.length === 1 && hosts[0] === `${meta.name}.external`;
  return given ? addresses : [...hosts, ...addresses];
}

/** The cluster of a host outside the mesh, as the entry that brings it says it is found. */
export function externalCluster(
  { port, entry, entryPort }: ExternalDestination,
  hostname: string,
  labels: Labels | undefined,
  connectTimeoutMs: number,
): BuiltCluster {
  const key = serviceKey(hostname, [port.name], [labels]);
  const hosts = hostsOf(entry.spec, entryPort, hostname, labels ?? {});
  const type = typeOf(entry.spec);
  return {
    cluster: {
      name: outboundName(key),
      service_name: key,
      connect_timeout_ms: connectTimeoutMs,
      type,
      lb_type: type === "original_dst" ? "original_dst_lb" : "round_robin",
      ...(hosts.length === 0 ? {} : { hosts }),
      ...(port.protocol === "HTTPS" ? { ssl_context: {} } : {}),
      ...http2Of(port.protocol),
    },
    policyTarget: { hostname, labels, port },
  };
}

function typeOf({ resolution }: ServiceEntry): Cluster["type"] {
  if (resolution === "DNS") return "strict_dns";
  return resolution === "STATIC" ? "static" : "original_dst";
}

function hostsOf(
  entry: ServiceEntry,
  port: ServicePort,
  hostname: string,
  labels: Labels,
): readonly { readonly url: string }[] {
  const endpoints = entry.endpoints ?? [];
  const urls = endpoints
    .filter((endpoint) => isSubset(labels, endpoint.labels ?? {}))
    .map((endpoint) => `tcp://${endpoint.address ?? ""}:${endpoint.ports?.[port.name] ?? port.number}`);
  if (entry.resolution === "DNS" && endpoints.length === 0) urls.push(`tcp://${hostname}:${port.number}`);
  return urls.map((url) => ({ url }));
}
