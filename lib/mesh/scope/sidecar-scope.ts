import { type Config, keyOf } from "../../config/config.ts";
import { keyText } from "../../config/diagnostic.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { IstioEgressListener, OutboundTrafficPolicy, Sidecar } from "../../config/kinds/sidecar.ts";
import type { Service } from "../../registry/service.ts";
import { hostImports } from "../hosts/host-import.ts";
import { meshGateway } from "../hosts/short-names.ts";
import { fingerprint } from "../memo/fingerprint.ts";
import type { Memo } from "../memo/memo.ts";
import { sameList, sameMap } from "../memo/same.ts";
import type {
  DestinationRuleIndex,
  EgressListener,
  MeshDestinationRule,
  MeshVirtualService,
  ServiceIndex,
  SidecarScope,
  VirtualServiceIndex,
} from "../mesh.ts";
import { listenerServices, type ServiceUnion, serviceUnion, withListenerPort, withPorts } from "./scope-services.ts";
import { destinationsOf, importedVirtualServices, virtualServiceByHost } from "./scope-virtual-services.ts";

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
 * The same object as last time if nothing that it holds changed.
 * @see Istio 1.30 `pilot/pkg/model/sidecar.go`; model-push 4
 */
export function sidecarScope(
  sources: ScopeSources,
  namespace: string,
  sidecar: Config<Sidecar> | undefined,
  memo: Memo,
): SidecarScope {
  const { services: index, virtualServices } = sources;
  const id =
    sidecar === undefined ? `default:${namespace}` : `${sidecar.meta.namespace}/${sidecar.meta.name}@${namespace}`;
  const egress = sidecar?.spec.egress ?? [];
  const specs: readonly (IstioEgressListener | undefined)[] = egress.length === 0 ? [undefined] : egress;
  const bound = virtualServices.forGateway(namespace, meshGateway);
  const egressListeners = specs.map((spec, at) => egressListener(spec, `${id}|${at}`, namespace, index, bound, memo));
  const { services, serviceByHostname } = scopeServices(index, egressListeners, id, namespace, memo);
  const destinationRules = destinationRulesOf(services, id, namespace, sources, memo);
  const from = [...egressListeners, services, destinationRules, sources.meshConfig];
  return memo(sidecar === undefined ? from : [...from, sidecar], `scope|${id}`, () => ({
    id,
    namespace,
    sidecar,
    egressListeners,
    services,
    serviceByHostname,
    destinationRules,
    outboundTrafficPolicy: sidecar?.spec.outboundTrafficPolicy ?? meshOutboundPolicy(sources.meshConfig),
    ingressListeners: sidecar?.spec.ingress ?? [],
  }));
}

/** @param spec undefined: everything */
function egressListener(
  spec: IstioEgressListener | undefined,
  name: string,
  namespace: string,
  index: ServiceIndex,
  bound: readonly MeshVirtualService[],
  memo: Memo,
): EgressListener {
  const imports = hostImports(spec?.hosts ?? ["*/*"], namespace);
  const port = trimmingPort(spec);
  const own = spec === undefined ? [] : [spec];
  const found = memo([index, ...own], `services|${namespace}`, () =>
    listenerServices(index, imports, namespace, port, memo),
  );
  const services = sameList(memo, `imported services|${name}`, found);
  const overlapping = memo([bound, ...own], `virtual services|${namespace}`, () =>
    importedVirtualServices(bound, imports),
  );
  const virtualServices = sameList(memo, `imported virtual services|${name}`, overlapping);
  return memo([services, virtualServices, ...own], "egress listener", () => ({
    spec,
    matchPort: port !== undefined,
    importsEverything: imports.everything && port === undefined,
    services,
    virtualServices,
    virtualServiceByHost: virtualServiceByHost(virtualServices, services),
  }));
}

/** What a gateway workload sees: all that is exported to its namespace; Sidecar objects mean nothing to it. */
export function gatewayScope(sources: ScopeSources, namespace: string, memo: Memo): SidecarScope {
  const { services: index, virtualServices } = sources;
  const id = `gateway:${namespace}`;
  const visible = sameList(memo, `visible services|${namespace}`, index.visibleTo(namespace));
  const { services, serviceByHostname } = unitedServices(visible, memo);
  const bound = virtualServices.forGateway(namespace, meshGateway);
  const destinationRules = destinationRulesOf(services, id, namespace, sources, memo);
  return memo([services, bound, destinationRules, sources.meshConfig], `scope|${id}`, () => ({
    id,
    namespace,
    sidecar: undefined,
    egressListeners: [
      {
        spec: undefined,
        matchPort: false,
        importsEverything: true,
        services,
        virtualServices: bound,
        virtualServiceByHost: new Map(),
      },
    ],
    services,
    serviceByHostname,
    destinationRules,
    outboundTrafficPolicy: meshOutboundPolicy(sources.meshConfig),
    ingressListeners: [],
  }));
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

/** One service a host. */
function unitedServices(services: readonly Service[], memo: Memo): Union {
  return memo([services], "united services", () => {
    const union = serviceUnion(memo);
    for (const service of services) union.add(service);
    const same = union.services.length === services.length && union.services.every((of, at) => of === services[at]);
    return { services: same ? services : union.services, serviceByHostname: union.byHostname };
  });
}

/** Services of all listeners, and the destinations of their virtual services, one per host. */
function scopeServices(
  index: ServiceIndex,
  listeners: readonly EgressListener[],
  id: string,
  namespace: string,
  memo: Memo,
): Union {
  const first = listeners[0];
  // Destinations add nothing to a listener that imports every visible service already, but for hidden ones next to it.
  if (first !== undefined && listeners.length === 1 && first.importsEverything && !index.hidesOwn(namespace))
    return unitedServices(first.services, memo);
  const union = serviceUnion(memo);
  for (const listener of listeners) {
    for (const service of listener.services) union.add(service);
    addDestinations(union, index, listener, namespace, memo);
  }
  return unitedServices(sameList(memo, `services|${id}`, union.services), memo);
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
      const wanted = (): Service | undefined => (ports.length === 0 ? service : withPorts(service, ports, memo));
      const reduced = port === undefined ? wanted() : withListenerPort(service, port, memo);
      if (reduced !== undefined) union.add(reduced);
    }
  }
}

/** Rules of the services by host; namespaces for which all of them are the same share the map. */
function destinationRulesOf(
  services: readonly Service[],
  id: string,
  namespace: string,
  sources: ScopeSources,
  memo: Memo,
): ReadonlyMap<string, readonly MeshDestinationRule[]> {
  const { destinationRules: index } = sources;
  const found = memo([services, index], `destination rules|${namespace}`, () => {
    const rules = new Map<string, readonly MeshDestinationRule[]>();
    for (const service of services) {
      const candidates = index.lookup(namespace, service.hostname, service.attributes.namespace);
      if (candidates.length > 0) rules.set(service.hostname, candidates);
    }
    return memo([services, index], `destination rules|${fingerprint(ruleNames(rules))}`, () => rules);
  });
  return sameMap(memo, `destination rules|${id}`, found);
}

/** Names the rules of every host that has any: equal texts mean equal maps, within one mesh. */
export function ruleNames(rules: SidecarScope["destinationRules"]): string {
  const names = [...rules].map(([hostname, candidates]) => {
    const of = candidates.map(({ from }) => from.map((key) => `${key.namespace}/${key.name}`).join("&"));
    return `${hostname}=${of.join("+")}`;
  });
  return names.join(",");
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
