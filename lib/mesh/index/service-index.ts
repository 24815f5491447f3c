import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { isSubsetHost, isWildcard } from "../../config/values/host-name.ts";
import { remembered } from "../../incremental/lazy.ts";
import { query } from "../../incremental/query.ts";
import { serviceKey } from "../../registry/changes/registry-state.ts";
import type { Endpoint, Service } from "../../registry/service.ts";
import { hostTable, mostSpecific } from "../hosts/host-table.ts";
import { type EntryLimits, limitedVisibility } from "./entry-visibility.ts";
import { isVisibleIn, type Visibility, visibilityOf } from "./export-to.ts";

/** The services of the mesh; it reads no endpoint, so that a change of endpoints leaves it alone. */
export interface ServiceIndex {
  readonly all: readonly Service[];
  /** host → namespace → service. */
  readonly byHostname: ReadonlyMap<string, ReadonlyMap<string, Service>>;
  /** Visible to a namespace: exported to it by name first, then public ones. */
  visibleTo(namespace: string): readonly Service[];
  isVisible(service: Service, namespace: string): boolean;
  /** Destinations of routes alone, which every namespace's routes may lead to, and `visibleTo` leaves out. */
  readonly routesOnly: readonly Service[];
  /** Whether a namespace has services that it does not export to itself: only the routes of a virtual service lead to those. */
  hidesOwn(namespace: string): boolean;
  /** The last of the services with the same host and namespace: its account names count for all of them. */
  youngest(service: Service): Service;
  /** The own namespace's service of a host, else the best of the visible ones. */
  visibleService(hostname: string, namespace: string): Service | undefined;
}

/**
 * The services of a mesh by host and by who sees them. It reads no endpoint.
 * @see docs/how-istio-does-it/services.md#services-of-a-mesh
 */
export const serviceIndex = query(
  "service index",
  { exportDefault: "value", limits: "value" },
  ({ services, exportDefault, limits }: ServiceIndexInputs) => indexServices(services, exportDefault, limits),
);

interface ServiceIndexInputs {
  readonly services: readonly Service[];
  readonly exportDefault: readonly string[];
  /** Undefined: services are seen where they are exported to. */
  readonly limits: EntryLimits | undefined;
}

export function indexServices(
  services: readonly Service[],
  exportDefault: readonly string[],
  limits?: EntryLimits,
): ServiceIndex {
  const visibilityIn = (service: Service): Visibility => {
    const { exportTo, namespace } = service.attributes;
    return limitedVisibility(service, visibilityOf(exportTo, exportDefault, namespace), limits);
  };
  const everywhere: Service[] = [];
  const exported = new Map<string, Service[]>();
  const byHostname = new Map<string, Map<string, Service>>();
  const visibilities = new Map<Service, Visibility>();
  const youngest = new Map<string, Service>();
  const hiding = new Set<string>();
  const routesOnly: Service[] = [];
  for (const service of services) {
    if (!enter(byHostname, service)) youngest.set(serviceKey(service), service);
    if (service.attributes.routesOnly) {
      routesOnly.push(service);
      continue;
    }
    const visibility = visibilityIn(service);
    visibilities.set(service, visibility);
    if (visibility.everywhere) everywhere.push(service);
    for (const namespace of visibility.namespaces) {
      const list = exported.get(namespace);
      if (list === undefined) exported.set(namespace, [service]);
      else list.push(service);
    }
    if (!isVisibleIn(visibility, service.attributes.namespace)) hiding.add(service.attributes.namespace);
  }
  const isVisible = (service: Service, namespace: string): boolean =>
    service.attributes.routesOnly === true ||
    isVisibleIn(visibilities.get(service) ?? visibilityIn(service), namespace);
  const visibleTo = remembered((namespace: string): readonly Service[] => {
    const own = exported.get(namespace);
    return own === undefined ? everywhere : [...own, ...everywhere];
  });
  return {
    all: services,
    byHostname,
    isVisible,
    visibleTo,
    routesOnly,
    hidesOwn: (namespace) => hiding.has(namespace),
    youngest: (service) => (youngest.size === 0 ? service : (youngest.get(serviceKey(service)) ?? service)),
    visibleService: (hostname, namespace) => {
      const byNamespace = byHostname.get(hostname);
      return byNamespace === undefined ? undefined : visibleService(byNamespace, namespace, isVisible);
    },
  };
}

/**
 * The oldest service of a host and namespace; a Kubernetes service displaces any other kind.
 * @returns whether it is the first of them
 */
function enter(byHostname: Map<string, Map<string, Service>>, service: Service): boolean {
  const { namespace, provider } = service.attributes;
  const byNamespace = byHostname.get(service.hostname);
  if (byNamespace === undefined) {
    byHostname.set(service.hostname, new Map([[namespace, service]]));
    return true;
  }
  const present = byNamespace.get(namespace);
  if (present === undefined || (present.attributes.provider !== "Kubernetes" && provider === "Kubernetes")) {
    byNamespace.set(namespace, service);
  }
  return present === undefined;
}

/** The own namespace's service of a host, else the first Kubernetes one that is visible, else the oldest visible one. */
function visibleService(
  byNamespace: ReadonlyMap<string, Service>,
  namespace: string,
  isVisible: ServiceIndex["isVisible"],
): Service | undefined {
  const own = byNamespace.get(namespace);
  if (own !== undefined) return own;
  let oldest: Service | undefined;
  for (const service of byNamespace.values()) {
    if (!isVisible(service, namespace)) continue;
    if (service.attributes.provider === "Kubernetes") return service;
    if (oldest === undefined || byAge(service, oldest) < 0) oldest = service;
  }
  return oldest;
}

const byAge = (a: Service, b: Service): number =>
  a.creationTimestampMs - b.creationTimestampMs || (a.attributes.namespace < b.attributes.namespace ? -1 : 1);

/** Identities that may serve: those of the endpoints and the declared ones, in every trust domain of the mesh; sorted. */
export function serviceAccountsOf(
  service: Service,
  endpoints: readonly Endpoint[],
  trustDomainAliases: readonly string[],
): readonly string[] {
  // The endpoints of a service mostly have one account: a list is looked through sooner than a set is made.
  const accounts = [...service.serviceAccounts];
  let last = "";
  for (const { serviceAccount } of endpoints) {
    if (serviceAccount !== last && serviceAccount !== "") accounts.push(serviceAccount);
    last = serviceAccount;
  }
  if (accounts.length === 0 || (accounts.length === 1 && trustDomainAliases.length === 0)) return accounts;
  const all = new Set(accounts);
  for (const account of trustDomainAliases.length === 0 ? [] : accounts) {
    const path = /^spiffe:\/\/[^/]*(\/ns\/[^/]+\/sa\/[^/]+)$/.exec(account)?.[1];
    if (path !== undefined) for (const domain of trustDomainAliases) all.add(`spiffe://${domain}${path}`);
  }
  return [...all].sort();
}

/**
 * Which hosts are served by endpoints of the client's own cluster only.
 * @see docs/how-istio-does-it/services.md#cluster-local-hosts
 */
export function clusterLocalHosts(meshConfig: MeshConfig, domain: string): (hostname: string) => boolean {
  const discovery = meshConfig.defaultConfig.discoveryAddress?.split(":")[0] ?? "";
  const defaults = [
    `*.kube-system.svc.${domain}`,
    `kubernetes.default.svc.${domain}`,
    ...(discovery.endsWith(domain) || discovery === "" ? [discovery] : [`${discovery}.${domain}`]),
  ].filter((host) => host !== "");
  const builtIn = new Set(defaults);
  const hosts = new Map<string, boolean>();
  for (const { settings, hosts: named = [] } of meshConfig.serviceSettings) {
    const local = settings?.clusterLocal ?? false;
    for (const host of named) {
      hosts.set(host, local);
      if (local) continue;
      // A host that is said not to be local takes the built-in default away that it is or falls under.
      for (const known of builtIn) {
        if (known === host || (isWildcard(known) && isSubsetHost(host, known))) builtIn.delete(known);
      }
    }
  }
  for (const known of builtIn) hosts.set(known, true);
  const table = hostTable(hosts);
  return (hostname) => mostSpecific(table, hostname)?.value ?? false;
}
