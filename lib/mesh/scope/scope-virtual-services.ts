import type { Destination, VirtualService } from "../../config/kinds/virtual-service.ts";
import type { Service } from "../../registry/service.ts";
import type { HostImports } from "../hosts/host-import.ts";
import { hostTable, mostSpecific } from "../hosts/host-table.ts";
import { isOfGatewayApi, type MeshVirtualService } from "../index/virtual-service-index.ts";

/**
 * The virtual services that an egress listener imports by any of their hosts, in the order given.
 * @see docs/how-istio-does-it/sidecar-scopes.md#virtualservices-of-an-egress-listener
 */
export function importedVirtualServices(
  all: readonly MeshVirtualService[],
  imports: HostImports,
): readonly MeshVirtualService[] {
  if (imports.everything) return all;
  return all.filter(({ config, hosts }) => {
    const covered = isOfGatewayApi(config);
    return hosts.some((host) => imports.importsVirtualServiceHost(host, config.meta.namespace, covered));
  });
}

/** For each service the virtual service with the most specific host for it; the earlier one where two list the same host. */
export function virtualServiceByHost(
  virtualServices: readonly MeshVirtualService[],
  services: readonly Service[],
): ReadonlyMap<string, MeshVirtualService> {
  const byHost = new Map<string, MeshVirtualService>();
  for (const virtualService of virtualServices) {
    for (const host of virtualService.hosts) if (!byHost.has(host)) byHost.set(host, virtualService);
  }
  const table = hostTable(byHost);
  const result = new Map<string, MeshVirtualService>();
  if (byHost.size === 0) return result;
  for (const { hostname } of services) {
    const found = mostSpecific(table, hostname);
    if (found !== undefined) result.set(hostname, found.value);
  }
  return result;
}

/**
 * Hosts that a virtual service sends traffic to, with the ports named for each; an empty list means all ports.
 * Routes for other source namespaces are left out, even where another of their matches names none.
 */
export function destinationsOf(spec: VirtualService, namespace: string): ReadonlyMap<string, readonly number[]> {
  const ports = new Map<string, number[]>();
  const anyPort = new Set<string>();
  const add = (destination: Destination | undefined): void => {
    if (destination === undefined) return;
    const numbers = ports.get(destination.host) ?? [];
    ports.set(destination.host, numbers);
    if (destination.port?.number === undefined) anyPort.add(destination.host);
    else numbers.push(destination.port.number);
  };
  for (const route of spec.http ?? []) {
    const sources = (route.match ?? []).flatMap((match) => match.sourceNamespace ?? []);
    if (sources.length > 0 && !sources.includes(namespace)) continue;
    for (const to of route.route ?? []) add(to.destination);
    add(route.mirror);
    for (const mirror of route.mirrors ?? []) add(mirror.destination);
  }
  for (const route of [...(spec.tcp ?? []), ...(spec.tls ?? [])])
    for (const to of route.route ?? []) add(to.destination);
  for (const host of anyPort) ports.set(host, []);
  return ports;
}
