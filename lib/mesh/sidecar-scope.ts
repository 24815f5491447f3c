import { type Config, keyOf } from "../config/config.ts";
import { keyText } from "../config/diagnostic.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { IstioEgressListener, OutboundTrafficPolicy, Sidecar } from "../config/kinds/sidecar.ts";
import type { Service } from "../registry/service.ts";
import { hostImports } from "./host-import.ts";
import type { Memo } from "./memo.ts";
import type {
  DestinationRuleIndex,
  EgressListener,
  MeshDestinationRule,
  ServiceIndex,
  SidecarScope,
  VirtualServiceIndex,
} from "./mesh.ts";
import { listenerServices, type ServiceUnion, serviceUnion, withPorts } from "./scope-services.ts";
import { destinationsOf, importedVirtualServices, virtualServiceByHost } from "./scope-virtual-services.ts";
import { meshGateway } from "./short-names.ts";

/** What scopes are made from. */
export interface ScopeSources {
  readonly meshConfig: MeshConfig;
  readonly services: ServiceIndex;
  readonly virtualServices: VirtualServiceIndex;
  readonly destinationRules: DestinationRuleIndex;
}

/**
 * What a Sidecar lets the proxies of a namespace see; without a Sidecar, everything that is exported to them.
 * A Sidecar of the root namespace is read as if it stood in `namespace`.
 * @see Istio 1.30 `pilot/pkg/model/sidecar.go`; model-push 4
 */
export function sidecarScope(
  sources: ScopeSources,
  namespace: string,
  sidecar: Config<Sidecar> | undefined,
  memo: Memo,
): SidecarScope {
  const { services: index, virtualServices } = sources;
  const egress = sidecar?.spec.egress ?? [];
  const listeners: readonly (IstioEgressListener | undefined)[] = egress.length === 0 ? [undefined] : egress;
  const bound = virtualServices.forGateway(namespace, meshGateway);
  const egressListeners = listeners.map((spec): EgressListener => {
    const imports = hostImports(spec?.hosts ?? ["*/*"], namespace);
    const port = trimmingPort(spec);
    const from = spec === undefined ? [index] : [index, spec];
    const services = memo(from, `services|${namespace}`, () => listenerServices(index, imports, namespace, port, memo));
    const imported = memo([bound, ...(spec === undefined ? [] : [spec])], `virtual services|${namespace}`, () =>
      importedVirtualServices(bound, imports),
    );
    return {
      spec,
      matchPort: port !== undefined,
      importsEverything: imports.everything && port === undefined,
      services,
      virtualServices: imported,
      virtualServiceByHost: virtualServiceByHost(imported, services),
    };
  });
  const id =
    sidecar === undefined ? `default:${namespace}` : `${sidecar.meta.namespace}/${sidecar.meta.name}@${namespace}`;
  const union = scopeServices(index, egressListeners, namespace, memo);
  return {
    id,
    namespace,
    sidecar,
    egressListeners,
    ...union,
    destinationRules: destinationRulesOf(union.services, namespace, sources, memo),
    outboundTrafficPolicy: sidecar?.spec.outboundTrafficPolicy ?? meshOutboundPolicy(sources.meshConfig),
    ingressListeners: sidecar?.spec.ingress ?? [],
  };
}

/** What a gateway workload sees: all that is exported to its namespace; Sidecar objects mean nothing to it. */
export function gatewayScope(sources: ScopeSources, namespace: string, memo: Memo): SidecarScope {
  const { services: index, virtualServices } = sources;
  const visible = index.visibleTo(namespace);
  const union = memo([visible], "gateway services", () => {
    const all = serviceUnion(memo);
    for (const service of visible) all.add(service);
    return { services: all.services, serviceByHostname: all.byHostname };
  });
  const bound = virtualServices.forGateway(namespace, meshGateway);
  const listener: EgressListener = {
    spec: undefined,
    matchPort: false,
    importsEverything: true,
    services: union.services,
    virtualServices: bound,
    virtualServiceByHost: new Map(),
  };
  return {
    id: `gateway:${namespace}`,
    namespace,
    sidecar: undefined,
    egressListeners: [listener],
    ...union,
    destinationRules: destinationRulesOf(union.services, namespace, sources, memo),
    outboundTrafficPolicy: meshOutboundPolicy(sources.meshConfig),
    ingressListeners: [],
  };
}

const meshOutboundPolicy = (meshConfig: MeshConfig): OutboundTrafficPolicy => ({
  mode: meshConfig.outboundTrafficPolicy.mode,
});

/** The listener's port when it trims services to it: any number, unless the listener is an HTTP proxy. */
function trimmingPort(spec: IstioEgressListener | undefined): number | undefined {
  const number = spec?.port?.number ?? 0;
  return number === 0 || spec?.port?.protocol?.toUpperCase() === "HTTP_PROXY" ? undefined : number;
}

type Union = Pick<SidecarScope, "services" | "serviceByHostname">;

/** Services of all listeners, and the destinations of their virtual services, one per host. */
function scopeServices(
  index: ServiceIndex,
  listeners: readonly EgressListener[],
  namespace: string,
  memo: Memo,
): Union {
  const first = listeners[0];
  if (first !== undefined && listeners.length === 1 && first.importsEverything) {
    // Destinations add nothing to a listener that imports every visible service already.
    return memo([first.services], "union", () => {
      const union = serviceUnion(memo);
      for (const service of first.services) union.add(service);
      return { services: union.services, serviceByHostname: union.byHostname };
    });
  }
  const union = serviceUnion(memo);
  for (const listener of listeners) {
    for (const service of listener.services) union.add(service);
    addDestinations(union, index, listener, namespace, memo);
  }
  return { services: union.services, serviceByHostname: union.byHostname };
}

function addDestinations(
  union: ServiceUnion,
  index: ServiceIndex,
  listener: EgressListener,
  namespace: string,
  memo: Memo,
): void {
  const port = trimmingPort(listener.spec);
  for (const { config } of listener.virtualServices) {
    const destinations = memo([config], `destinations|${namespace}`, () => destinationsOf(config.spec, namespace));
    for (const [hostname, ports] of destinations) {
      const service = index.visibleService(hostname, namespace);
      if (service === undefined) continue;
      const wanted = port === undefined ? ports : [port];
      const reduced = wanted.length === 0 ? service : withPorts(service, wanted, memo);
      if (reduced !== undefined) union.add(reduced);
    }
  }
}

function destinationRulesOf(
  services: readonly Service[],
  namespace: string,
  sources: ScopeSources,
  memo: Memo,
): ReadonlyMap<string, readonly MeshDestinationRule[]> {
  const { destinationRules: index } = sources;
  return memo([services, index], `destination rules|${namespace}`, () => {
    const rules = new Map<string, readonly MeshDestinationRule[]>();
    for (const service of services) {
      const found = index.lookup(namespace, service.hostname, service.attributes.namespace);
      if (found.length > 0) rules.set(service.hostname, found);
    }
    return rules;
  });
}

/**
 * Keys of every object that the scope was made from, as `kind/namespace/name`; services stand as `ServiceEntry/namespace/host`.
 * A change of any other service, virtual service, destination rule or Sidecar cannot change the scope.
 * @see model-push 4.8
 */
export function scopeDependencies(scope: SidecarScope): ReadonlySet<string> {
  const keys = new Set<string>();
  if (scope.sidecar !== undefined) keys.add(keyText(keyOf(scope.sidecar)));
  for (const service of scope.services) keys.add(`ServiceEntry/${service.attributes.namespace}/${service.hostname}`);
  for (const listener of scope.egressListeners) {
    for (const virtualService of listener.virtualServices)
      for (const key of virtualService.from) keys.add(keyText(key));
  }
  for (const rules of scope.destinationRules.values()) {
    for (const rule of rules) for (const key of rule.from) keys.add(keyText(key));
  }
  return keys;
}
