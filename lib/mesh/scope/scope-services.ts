import { sameLabels } from "../../config/values/labels.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Service, ServicePort } from "../../registry/service.ts";
import type { HostImports } from "../hosts/host-import.ts";
import type { ServiceIndex } from "../index/service-index.ts";

/**
 * The services that one egress listener imports, in the order of `visibleTo`.
 * @param port set when the listener has a port that trims its services: only services with it, reduced to it
 * @see docs/how-istio-does-it/sidecar-scopes.md#services-of-an-egress-listener
 * @see istio 1.30.3 pilot/pkg/model/sidecar.go, selectServices
 */
export function listenerServices(
  index: ServiceIndex,
  imports: HostImports,
  namespace: string,
  port: number | undefined,
  memo: Memo,
): readonly Service[] {
  const all = index.visibleTo(namespace);
  if (imports.everything && port === undefined && haveHostsApart(memo, { services: all })) return all;
  const imported: Service[] = [];
  for (const candidate of all) {
    const importing = imports.everything
      ? everyHost
      : imports.importing(candidate.hostname, candidate.attributes.namespace);
    if (importing === undefined) continue;
    const service = port === undefined ? candidate : withListenerPort(candidate, port, memo);
    if (service !== undefined) imported.push(importedAliases(service, importing, memo));
  }
  const chosen = chooseNamespaces(imported, namespace);
  const kept = imported.filter(
    (service) => chosen.get(service.hostname)?.attributes.namespace === service.attributes.namespace,
  );
  // Namespaces that see the same services share the list, and so all that is made from it.
  return kept.length === all.length && kept.every((service, at) => service === all[at]) ? all : kept;
}

const everyHost = (): boolean => true;

/** Whether no two of them have one host, between which namespaces would have to be chosen. */
const haveHostsApart = query(
  "services with hosts of their own",
  ({ services }: { readonly services: readonly Service[] }): boolean =>
    new Set(services.map(({ hostname }) => hostname)).size === services.length,
);

/** Host → the service whose namespace wins: the scope's own, else a Kubernetes service, else the first. */
function chooseNamespaces(services: readonly Service[], own: string): ReadonlyMap<string, Service> {
  const chosen = new Map<string, Service>();
  for (const service of services) {
    const present = chosen.get(service.hostname);
    if (present === undefined || service.attributes.namespace === own) chosen.set(service.hostname, service);
    else if (present.attributes.namespace !== own && !isKubernetes(present) && isKubernetes(service)) {
      chosen.set(service.hostname, service);
    }
  }
  return chosen;
}

const isKubernetes = (service: Service): boolean => service.attributes.provider === "Kubernetes";

function importedAliases(service: Service, imports: (host: string) => boolean, memo: Memo): Service {
  const { aliases } = service.attributes;
  const kept = aliases.filter((alias) => imports(alias.hostname));
  if (kept.length === aliases.length) return service;
  return withAliases(memo, { service, aliases: kept });
}

const withAliases = query(
  "service with aliases",
  { aliases: "value" },
  ({
    service,
    aliases,
  }: {
    readonly service: Service;
    readonly aliases: Service["attributes"]["aliases"];
  }): Service => ({
    ...service,
    attributes: { ...service.attributes, aliases },
  }),
);

/** The service with only these ports; undefined when it has none of them, itself when it has no others. */
export function withPorts(service: Service, numbers: readonly number[], memo: Memo): Service | undefined {
  const ports = service.ports.filter((port) => numbers.includes(port.port));
  if (ports.length === 0) return undefined;
  if (ports.length === service.ports.length) return service;
  return portsOnly(memo, { service, numbers: ports.map((port) => port.port) });
}

const portsOnly = query(
  "service with some ports",
  { numbers: "value" },
  ({ service, numbers }: { readonly service: Service; readonly numbers: readonly number[] }): Service => ({
    ...service,
    ports: service.ports.filter((port) => numbers.includes(port.port)),
  }),
);

/** The same for the one port of a listener: where a UDP port shares its number, the first of the two is taken. */
export function withListenerPort(service: Service, number: number, memo: Memo): Service | undefined {
  const reduced = withPorts(service, [number], memo);
  if (reduced === undefined || reduced.ports.length === 1) return reduced;
  return firstPortOnly(memo, { service: reduced });
}

const firstPortOnly = query(
  "service with its first port",
  ({ service }: { readonly service: Service }): Service => ({ ...service, ports: service.ports.slice(0, 1) }),
);

/**
 * The services of a whole scope: one per host, whatever listener it came from.
 * @see docs/how-istio-does-it/sidecar-scopes.md#union-of-a-scope
 */
export interface ServiceUnion {
  readonly services: readonly Service[];
  readonly byHostname: ReadonlyMap<string, Service>;
  add(service: Service): void;
}

export function serviceUnion(memo: Memo): ServiceUnion {
  const services: Service[] = [];
  const byHostname = new Map<string, Service>();
  const positions = new Map<string, number>();
  return {
    services,
    byHostname,
    add: (service) => {
      const at = positions.get(service.hostname);
      const present = at === undefined ? undefined : services[at];
      if (at === undefined || present === undefined) {
        positions.set(service.hostname, services.length);
        byHostname.set(service.hostname, service);
        services.push(service);
        return;
      }
      const replacement = unite(present, service, memo);
      services[at] = replacement;
      byHostname.set(service.hostname, replacement);
    },
  };
}

function unite(present: Service, added: Service, memo: Memo): Service {
  if (present === added) return present;
  if (isKubernetes(present) !== isKubernetes(added)) return isKubernetes(present) ? present : added;
  if (samePorts(present.ports, added.ports) || !canShare(present, added)) return present;
  return withBothPorts(memo, { present, added });
}

const withBothPorts = query(
  "service with the ports of two",
  ({ present, added }: { readonly present: Service; readonly added: Service }): Service => {
    const numbers = new Set(present.ports.map((port) => port.port));
    return { ...present, ports: [...present.ports, ...added.ports.filter((port) => !numbers.has(port.port))] };
  },
);

const samePorts = (a: readonly ServicePort[], b: readonly ServicePort[]): boolean =>
  a.length === b.length &&
  a.every((port, at) => {
    const other = b[at];
    return port.port === other?.port && port.name === other.name && port.protocol === other.protocol;
  });

function canShare(a: Service, b: Service): boolean {
  const [x, y] = [a.attributes, b.attributes];
  return (
    x.namespace === y.namespace &&
    a.resolution === b.resolution &&
    x.provider === y.provider &&
    sameLabels(x.labels, y.labels) &&
    sameLabels(x.selector ?? {}, y.selector ?? {}) &&
    (x.exportTo ?? []).join() === (y.exportTo ?? []).join()
  );
}
