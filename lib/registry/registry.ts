import { causeText } from "../config/cause-text.ts";
import { type ChangeSink, reportChanges } from "./change-sink.ts";
import {
  discoveryOf,
  instancesOf,
  type Registry,
  type RegistryEvent,
  type RegistryHealth,
  type ServiceDiscovery,
} from "./discovery.ts";
import type { ProxyQuery } from "./proxy-query.ts";
import { type RegistryState, serviceKey } from "./registry-state.ts";
import { sameValue } from "./same.ts";
import type { Provider, Service, ServiceInstance } from "./service.ts";
import type { Source } from "./source.ts";

export interface RegistryOptions<T> {
  readonly provider: Provider;
  /** "" for a registry that belongs to no cluster. */
  readonly clusterId: string;
  readonly source: Source<T>;
  /** Makes the state from what the source delivers; under a memo, so that what did not change stays the same. */
  readonly stateOf: (content: T) => RegistryState;
  /** Told what each change means for those who compile; absent: nobody. */
  readonly sink?: ChangeSink;
}

/** A registry with the state that it answers from. */
export interface FollowingRegistry extends Registry {
  /** Reads the origin once. @throws PortolanError when that fails; the answers stay as they were, marked stale */
  refresh(signal?: AbortSignal): Promise<void>;
  state(): RegistryState;
}

const nothing: RegistryState = {
  services: [],
  endpoints: new Map(),
  workload: () => undefined,
  serviceTargets: () => [],
  selectedTargets: { of: () => [] },
  workloads: [],
  networkGateways: [],
  namespaces: new Map(),
};

/** What went, came and changed between two lists, by key. */
function* eventsBetween<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  same: (a: T, b: T) => boolean,
): Generator<readonly [T, RegistryEvent]> {
  for (const [key, item] of after) {
    const old = before.get(key);
    if (old === undefined) yield [item, "add"];
    else if (!same(old, item)) yield [item, "update"];
  }
  for (const [key, item] of before) if (!after.has(key)) yield [item, "delete"];
}

/** Services by key; those of one key, which have an address each, are told apart by their place. */
function servicesByKey(state: RegistryState): ReadonlyMap<string, Service> {
  const byKey = new Map<string, Service>();
  for (const service of state.services) {
    let key = serviceKey(service);
    while (byKey.has(key)) key += "+";
    byKey.set(key, service);
  }
  return byKey;
}

function instancesByKey(state: RegistryState): ReadonlyMap<string, ServiceInstance> {
  return new Map(
    state.services.flatMap((service) =>
      instancesOf(service, state.endpoints.get(serviceKey(service)) ?? []).map(
        (instance): [string, ServiceInstance] => [
          [serviceKey(service), instance.servicePort.port, instance.endpoint.addresses[0], instance.endpoint.port].join(
            "/",
          ),
          instance,
        ],
      ),
    ),
  );
}

/** A change of the service is no change of its instances. */
function sameInstance(a: ServiceInstance, b: ServiceInstance): boolean {
  return sameValue(a.servicePort, b.servicePort) && sameValue(a.endpoint, b.endpoint);
}

/** A registry over any source: answers from the last good state, follows the source while it runs. */
export function createRegistry<T>(options: RegistryOptions<T>): FollowingRegistry {
  const serviceHandlers: ((service: Service, event: RegistryEvent) => void)[] = [];
  const instanceHandlers: ((instance: ServiceInstance, event: RegistryEvent) => void)[] = [];
  let state = nothing;
  let discovery: ServiceDiscovery = discoveryOf(state);
  let health: RegistryHealth = { status: "never", reason: "" };
  const accept = (content: T): void => {
    const before = state;
    state = options.stateOf(content);
    discovery = discoveryOf(state);
    health = { status: "fresh", reason: "" };
    if (state === before) return;
    if (serviceHandlers.length > 0) {
      for (const [service, event] of eventsBetween(servicesByKey(before), servicesByKey(state), sameValue)) {
        for (const handler of serviceHandlers) handler(service, event);
      }
    }
    if (instanceHandlers.length > 0) {
      for (const [instance, event] of eventsBetween(instancesByKey(before), instancesByKey(state), sameInstance)) {
        for (const handler of instanceHandlers) handler(instance, event);
      }
    }
    if (options.sink !== undefined) reportChanges(options.sink, before, state);
  };
  const fail = (reason: string): void => {
    health = { status: health.status === "never" ? "never" : "stale", reason };
  };
  return {
    provider: options.provider,
    clusterId: options.clusterId,
    state: () => state,
    health: () => health,
    services: () => discovery.services(),
    service: (hostname) => discovery.service(hostname),
    instancesByPort: (service, port, labels) => discovery.instancesByPort(service, port, labels),
    proxyServiceInstances: (proxy: ProxyQuery) => discovery.proxyServiceInstances(proxy),
    proxyWorkloadLabels: (proxy: ProxyQuery) => discovery.proxyWorkloadLabels(proxy),
    appendServiceHandler: (handler) => void serviceHandlers.push(handler),
    appendInstanceHandler: (handler) => void instanceHandlers.push(handler),
    async refresh(signal) {
      try {
        accept((await options.source.snapshot(signal)).content);
      } catch (cause) {
        fail(causeText(cause));
        throw cause;
      }
    },
    async run(signal) {
      for await (const event of options.source.watch(signal)) {
        if ("failure" in event) fail(event.failure);
        else accept(event.content);
      }
    },
  };
}
