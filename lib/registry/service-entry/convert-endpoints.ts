import { byCodePoint } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { ServiceEntry, ServicePort } from "../../config/kinds/service-entry.ts";
import { isNonEmptySubset } from "../../config/values/labels.ts";
import type { Endpoint } from "../service.ts";
import { type EntrySettings, entryEndpoint, entryPorts, type SelectableWorkload } from "./workload.ts";

/** Says whether the clusters of an entry's services resolve names. */
function isDns(spec: ServiceEntry): boolean {
  return spec.resolution === "DNS" || spec.resolution === "DNS_ROUND_ROBIN";
}

/** The workload's own port of that name, else the target port, else the number; a socket has none. */
function targetPort(port: ServicePort, endpoint: Endpoint, named: ReadonlyMap<string, number>): number {
  if (endpoint.unixPath !== "") return 0;
  const own = named.get(port.name);
  if (own !== undefined) return own;
  return port.targetPort !== undefined && port.targetPort > 0 ? port.targetPort : port.number;
}

function onPort(endpoint: Endpoint, port: ServicePort, named: ReadonlyMap<string, number>): Endpoint {
  return {
    ...endpoint,
    port: targetPort(port, endpoint, named),
    servicePortName: port.name,
    servicePortNumber: port.number,
  };
}

const noPorts: ReadonlyMap<string, number> = new Map();

/** Workloads that an entry's selector chooses, pods first, then by name; an empty selector chooses nothing. */
export function selectedWorkloads(
  config: Config<ServiceEntry>,
  candidates: readonly SelectableWorkload[],
): readonly SelectableWorkload[] {
  const labels = config.spec.workloadSelector?.labels;
  const dns = isDns(config.spec);
  return candidates
    .filter((workload) => (dns || !workload.dnsOnly) && isNonEmptySubset(labels, workload.labels))
    .sort((a, b) => byCodePoint(a.kind, b.kind) || byCodePoint(a.name, b.name));
}

/**
 * Endpoints behind the ports of an entry, the same for each of its hosts except where the host itself is the address
 * (`ofHost`). Port by port for each workload.
 *
 * @param candidates workloads of the entry's namespace, pods included
 * @see docs/how-istio-does-it/service-entries.md#endpoints-of-an-entry
 */
export function entryEndpoints(
  config: Config<ServiceEntry>,
  candidates: readonly SelectableWorkload[],
  settings: EntrySettings,
): readonly Endpoint[] {
  const { meta, spec } = config;
  const ports = spec.ports ?? [];
  if (spec.workloadSelector !== undefined) {
    return selectedWorkloads(config, candidates).flatMap((workload) =>
      ports.map((port) => onPort(workload.endpoint, port, workload.ports)),
    );
  }
  return (spec.endpoints ?? []).flatMap((entry, index) => {
    const owner = { namespace: meta.namespace, name: `${meta.name}-${index}` };
    const endpoint = entryEndpoint(entry, owner, settings);
    const named = entryPorts(entry);
    return ports.map((port) => onPort(endpoint, port, named));
  });
}

/** Endpoints of one host of an entry that states none: the host is its own address where names are resolved. */
export function hostEndpoints(
  config: Config<ServiceEntry>,
  hostname: string,
  settings: EntrySettings,
): readonly Endpoint[] {
  const { meta, spec } = config;
  if (!isDns(spec) || spec.workloadSelector !== undefined || (spec.endpoints ?? []).length > 0) return [];
  const endpoint = {
    ...entryEndpoint({ address: hostname }, meta, settings),
    labels: {},
  };
  return (spec.ports ?? []).map((port) => onPort(endpoint, port, noPorts));
}
