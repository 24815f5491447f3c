import { byCodePoint } from "../../base/diagnostic.ts";
import { isWildcard } from "../../config/values/host-name.ts";
import { query } from "../../incremental/query.ts";
import { type Protocol, type Service, type ServicePort, streamPort } from "../../registry/service.ts";
import { virtualHostName } from "../names.ts";

/** A service as one table sees it. */
export interface TableService {
  readonly service: Service;
  /** Lower case. */
  readonly hostname: string;
  /** The table's port alone, or all of the service's in a table of all ports. */
  readonly ports: readonly ServicePort[];
  /** Those of them that HTTP may arrive on. */
  readonly httpPorts: readonly ServicePort[];
}

/** The services of an egress listener that a table is about. */
export interface TableServices {
  readonly byHostname: ReadonlyMap<string, TableService>;
  /** By host name, in code point order. */
  readonly sorted: readonly TableService[];
  /** All host names, and the wildcards among them. */
  readonly hostnames: readonly string[];
  readonly wildcardHosts: readonly string[];
  /** Host names and `host:port` names that belong to a service, aliases left out. */
  readonly known: ReadonlySet<string>;
}

interface Inputs {
  readonly services: readonly Service[];
  /** 0: a table of all ports (HTTP proxy, unix socket). */
  readonly port: number;
  /** Domains name ports also where the table has one only. */
  readonly namesPorts: boolean;
}

export const tableServices = query(
  "services of a route table",
  ({ services, port, namesPorts }: Inputs): TableServices => {
    const byHostname = new Map<string, TableService>();
    for (const service of services) {
      const seen = tableService(service, port);
      // Several services of one host are several addresses of one: the last is the one that counts.
      if (seen !== undefined) byHostname.set(seen.hostname, seen);
    }
    const sorted = [...byHostname.values()].sort((a, b) => byCodePoint(a.hostname, b.hostname));
    const known = new Set<string>();
    for (const { service, hostname, httpPorts } of sorted) {
      if (service.resolution === "Alias" || httpPorts.length === 0) continue;
      known.add(hostname);
      // Without ports in its domains a table has no name of this form to compare.
      if (port === 0 || namesPorts)
        for (const { port: number } of httpPorts) known.add(virtualHostName(hostname, number));
    }
    const hostnames = sorted.map((service) => service.hostname);
    return { byHostname, sorted, hostnames, wildcardHosts: hostnames.filter(isWildcard), known };
  },
);

function tableService(service: Service, port: number): TableService | undefined {
  const only = port === 0 ? undefined : streamPort(service, port);
  const ports = port === 0 ? service.ports : only === undefined ? [] : [only];
  if (ports.length === 0) return undefined;
  const httpPorts = ports.filter((candidate) => carriesHttp(candidate.protocol));
  return { service, hostname: service.hostname.toLowerCase(), ports, httpPorts };
}

/** HTTP by declaration, or a port whose protocol Envoy finds out itself. */
function carriesHttp(protocol: Protocol): boolean {
  switch (protocol) {
    case "HTTP":
    case "HTTP2":
    case "HTTP_PROXY":
    case "GRPC":
    case "GRPC-Web":
    case "Unsupported":
      return true;
    default:
      return false;
  }
}
