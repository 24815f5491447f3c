import { isHttp } from "./protocol.ts";
import { type RegistryState, serviceKey } from "./registry-state.ts";
import { sameValue } from "./same.ts";
import type { Endpoint, Service } from "./service.ts";

/** The host of a service in a namespace. */
export interface ServiceHost {
  readonly hostname: string;
  readonly namespace: string;
}

/**
 * Where a registry reports what its changes mean for those who compile: an endpoint-only change touches nothing but
 * load assignments, a full one anything that mentions the host.
 */
export interface ChangeSink {
  endpointsChanged(host: ServiceHost, endpoints: readonly Endpoint[]): void;
  /** `reason` says what kind of change it was. */
  servicesChanged(host: ServiceHost, reason: FullReason): void;
}

export type FullReason =
  | "service-added"
  | "service-changed"
  | "service-removed"
  /** Nothing was known of the host so far, not even that it had no endpoints. */
  | "first-endpoints"
  /** Certificates of clients are checked against the accounts, which stand in clusters. */
  | "accounts-changed"
  /** The endpoints themselves stand in clusters (DNS) or listeners (headless TCP). */
  | "endpoints-in-configuration";

/** What a change of endpoints calls for. */
export type EndpointPush = "none" | "endpoints" | FullReason;

function accountsOf(endpoints: readonly Endpoint[]): ReadonlySet<string> {
  return new Set(endpoints.map(({ serviceAccount }) => serviceAccount).filter((account) => account !== ""));
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}

/** Text that tells the endpoints of a service apart. */
function identityOf(endpoint: Endpoint): string {
  const { namespace, workloadName, addresses, servicePortName, servicePortNumber } = endpoint;
  return [namespace, workloadName, addresses[0] ?? "", servicePortName, servicePortNumber ?? ""].join("/");
}

function isSent(endpoint: Endpoint, service: Service): boolean {
  const { publishNotReadyAddresses, trafficDistribution } = service.attributes;
  return endpoint.health !== "Unhealthy" || publishNotReadyAddresses || trafficDistribution !== "Any";
}

/** Does anything differ that a proxy could notice? An endpoint that came and never was ready does not count. */
function differs(service: Service, before: readonly Endpoint[], after: readonly Endpoint[]): boolean {
  const known = new Map(before.map((endpoint) => [identityOf(endpoint), endpoint]));
  for (const endpoint of after) {
    const identity = identityOf(endpoint);
    const old = known.get(identity);
    if (old === undefined ? isSent(endpoint, service) : !sameValue(old, endpoint)) return true;
    known.delete(identity);
  }
  return known.size > 0;
}

function isInConfiguration(service: Service): boolean {
  switch (service.resolution) {
    case "DNSLB":
    case "DNSRoundRobinLB":
      return true;
    case "Passthrough":
      return service.ports.some(({ protocol }) => !isHttp(protocol));
    default:
      return false;
  }
}

/**
 * What a new list of endpoints calls for.
 *
 * @param before undefined: nothing was ever reported for the service; an empty list was reported as such
 * @see docs/how-istio-does-it/services.md#what-a-change-means
 */
export function endpointPush(
  service: Service,
  before: readonly Endpoint[] | undefined,
  after: readonly Endpoint[],
): EndpointPush {
  if (before === after || (service.attributes.exportTo ?? []).includes("~")) return "none";
  if (before === undefined) return after.length === 0 ? "none" : "first-endpoints";
  if (!differs(service, before, after)) return "none";
  if (isInConfiguration(service)) return "endpoints-in-configuration";
  // An emptied list keeps the accounts that clients already know: 1 → 0 → 1 must not touch clusters.
  if (after.length > 0 && before.length > 0 && !sameSet(accountsOf(before), accountsOf(after)))
    return "accounts-changed";
  return "endpoints";
}

/** A service that no one may see matters to no one, unless someone could see it before. */
function isHidden(service: Service | undefined): boolean {
  return service?.attributes.exportTo?.includes("~") === true;
}

/** Everything that the mesh sees of a service; its age and version are not among it. */
function sameService(a: Service, b: Service): boolean {
  const visible = (service: Service) => ({ ...service, creationTimestampMs: 0, resourceVersion: "", origins: [] });
  return a === b || sameValue(visible(a), visible(b));
}

function byKey(services: readonly Service[]): ReadonlyMap<string, readonly Service[]> {
  const map = new Map<string, Service[]>();
  for (const service of services) {
    const key = serviceKey(service);
    const list = map.get(key);
    if (list === undefined) map.set(key, [service]);
    else list.push(service);
  }
  return map;
}

function serviceChange(before: readonly Service[], after: readonly Service[]): FullReason | undefined {
  if (before.length === 0) return after.every(isHidden) ? undefined : "service-added";
  if (after.length === 0) return before.every(isHidden) ? undefined : "service-removed";
  if (before.every(isHidden) && after.every(isHidden)) return undefined;
  const same = before.length === after.length && before.every((service, at) => isSame(service, after[at]));
  return same ? undefined : "service-changed";
}

const isSame = (a: Service, b: Service | undefined): boolean => b !== undefined && sameService(a, b);

/**
 * Tells a sink what happened between two states: one call for each host that changed, service changes before
 * endpoint changes, each in the order of the services. Costs what differs, where the two share what does not.
 */
export function reportChanges(sink: ChangeSink, before: RegistryState, after: RegistryState): void {
  const told = new Set<string>();
  const old = byKey(before.services);
  const young = byKey(after.services);
  if (before.services !== after.services) {
    for (const [key, services] of [...young, ...old]) {
      if (told.has(key)) continue;
      const [service] = services;
      const reason = serviceChange(old.get(key) ?? [], young.get(key) ?? []);
      if (service === undefined || reason === undefined) continue;
      told.add(key);
      sink.servicesChanged({ hostname: service.hostname, namespace: service.attributes.namespace }, reason);
    }
  }
  if (before.endpoints === after.endpoints) return;
  for (const [key, [service]] of young) {
    if (service === undefined || told.has(key)) continue;
    const endpoints = after.endpoints.get(key) ?? [];
    const push = endpointPush(service, before.endpoints.get(key) ?? [], endpoints);
    const host = { hostname: service.hostname, namespace: service.attributes.namespace };
    if (push === "endpoints") sink.endpointsChanged(host, endpoints);
    else if (push !== "none") sink.servicesChanged(host, push);
  }
}
