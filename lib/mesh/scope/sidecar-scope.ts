import { keyText } from "../../base/diagnostic.ts";
import { type Config, keyOf } from "../../config/config.ts";
import type {
  IstioEgressListener,
  IstioIngressListener,
  OutboundTrafficPolicy,
  Sidecar,
} from "../../config/kinds/sidecar.ts";
import type { VirtualService } from "../../config/kinds/virtual-service.ts";
import { internList, keepList, keepMap } from "../../incremental/keep-identity.ts";
import { lazily } from "../../incremental/lazy.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Service } from "../../registry/service.ts";
import { type HostImports, hostImports } from "../hosts/host-import.ts";
import { meshGateway } from "../hosts/short-names.ts";
import type { DestinationRuleIndex, MeshDestinationRule } from "../index/destination-rule-index.ts";
import type { ServiceIndex } from "../index/service-index.ts";
import type { MeshVirtualService, VirtualServiceIndex } from "../index/virtual-service-index.ts";
import type { MeshSettings } from "../mesh-settings.ts";
import { listenerServices, type ServiceUnion, serviceUnion, withListenerPort, withPorts } from "./scope-services.ts";
import { destinationsOf, importedVirtualServices, virtualServiceByHost } from "./scope-virtual-services.ts";

/** One egress listener of a sidecar scope: what it imports. */
export interface EgressListener {
  /** undefined: the catch-all listener of a scope without Sidecar, or of a Sidecar without egress list. */
  readonly spec: IstioEgressListener | undefined;
  /** True when the listener has a port of its own that trims its services (any protocol but HTTP_PROXY). */
  readonly matchPort: boolean;
  /** True when every visible service is imported as it is. */
  readonly importsEverything: boolean;
  /** In Istio's order: own namespace's and exported ones first, then public ones, oldest first. */
  readonly services: readonly Service[];
  readonly virtualServices: readonly MeshVirtualService[];
  /** Service host → the virtual service with the most specific host for it; worked out when it is first asked for. */
  readonly virtualServiceByHost: () => ReadonlyMap<string, MeshVirtualService>;
}

/** What one Sidecar (or none) lets the proxies of a namespace see. */
export interface SidecarScope {
  /** `namespace/name` of the Sidecar seen from the namespace it takes effect in, or the default of the namespace. */
  readonly id: string;
  readonly namespace: string;
  readonly sidecar: Config<Sidecar> | undefined;
  readonly egressListeners: readonly EgressListener[];
  readonly services: readonly Service[];
  readonly serviceByHostname: ReadonlyMap<string, Service>;
  readonly outboundTrafficPolicy: OutboundTrafficPolicy;
  /** Non-empty: inbound listeners come from here and not from service targets. */
  readonly ingressListeners: readonly IstioIngressListener[];
  /**
   * Destination rules by host name, all candidates in order; `destinationRuleFor` picks for direction and labels.
   * @see docs/how-istio-does-it/destination-rules.md#which-rule-applies
   * @see docs/how-istio-does-it/destination-rules.md#effective-policy
   */
  readonly destinationRules: ReadonlyMap<string, readonly MeshDestinationRule[]>;
}

/** What scopes are made from. */
export interface ScopeSources {
  readonly meshConfig: MeshSettings;
  readonly services: ServiceIndex;
  readonly virtualServices: VirtualServiceIndex;
  readonly destinationRules: DestinationRuleIndex;
}

/**
 * What a Sidecar lets the proxies of a namespace see; without a Sidecar, everything that is exported to them.
 * A Sidecar of the root namespace is read as if it stood in `namespace`.
 * The same object as last time if nothing that it holds changed.
 * @see docs/how-istio-does-it/sidecar-scopes.md#scope
 * @see istio 1.30.3 pilot/pkg/model/sidecar.go
 */
export function sidecarScope(
  sources: ScopeSources,
  namespace: string,
  sidecar: Config<Sidecar> | undefined,
  memo: Memo,
): SidecarScope {
  const { services: index, virtualServices, meshConfig } = sources;
  const { excludesEverythingByTilde: excludesEverything } = meshConfig.rules;
  const id =
    sidecar === undefined ? `default:${namespace}` : `${sidecar.meta.namespace}/${sidecar.meta.name}@${namespace}`;
  const egress = sidecar?.spec.egress ?? [];
  const specs: readonly (IstioEgressListener | undefined)[] = egress.length === 0 ? [undefined] : egress;
  const bound = virtualServices.forGateway(namespace, meshGateway);
  const egressListeners = specs.map((spec, at) =>
    egressListener({ spec, namespace, excludesEverything }, `${id}|${at}`, index, bound, memo),
  );
  const { services, serviceByHostname } = scopeServices(index, egressListeners, id, namespace, memo);
  const destinationRules = destinationRulesOf(services, id, namespace, sources, memo);
  return scopeOfParts(memo, {
    id,
    namespace,
    sidecar,
    egressListeners: internList(memo, egressListeners),
    services,
    serviceByHostname,
    destinationRules,
    outboundMode: sources.meshConfig.outboundTrafficPolicy.mode,
  });
}

interface ScopeParts extends Omit<SidecarScope, "outboundTrafficPolicy" | "ingressListeners"> {
  /** The mesh's, for a scope that says nothing of its own. */
  readonly outboundMode: MeshSettings["outboundTrafficPolicy"]["mode"];
}

const scopeOfParts = query(
  "sidecar scope",
  ({ outboundMode, ...parts }: ScopeParts): SidecarScope => ({
    ...parts,
    outboundTrafficPolicy: parts.sidecar?.spec.outboundTrafficPolicy ?? { mode: outboundMode },
    ingressListeners: parts.sidecar?.spec.ingress ?? noListeners,
  }),
);

const noListeners: readonly [] = [];

function egressListener(
  importing: Importing,
  name: string,
  index: ServiceIndex,
  bound: readonly MeshVirtualService[],
  memo: Memo,
): EgressListener {
  return egressListenerOf(memo, {
    ...importing,
    services: keepList(memo, `imported services|${name}`, importedServices(memo, { index, ...importing })),
    virtualServices: keepList(
      memo,
      `imported virtual services|${name}`,
      importedByListener(memo, { bound, ...importing }),
    ),
  });
}

interface Importing {
  /** undefined: everything. */
  readonly spec: IstioEgressListener | undefined;
  readonly namespace: string;
  readonly excludesEverything: boolean;
}

const importsOf = ({ spec, namespace, excludesEverything }: Importing): HostImports =>
  hostImports(spec?.hosts ?? ["*/*"], namespace, excludesEverything);

const importedServices = query(
  "services of an egress listener",
  ({ index, ...importing }: Importing & { readonly index: ServiceIndex }, memo: Memo) =>
    listenerServices(index, importsOf(importing), importing.namespace, trimmingPort(importing.spec), memo),
);

const importedByListener = query(
  "virtual services of an egress listener",
  ({ bound, ...importing }: Importing & { readonly bound: readonly MeshVirtualService[] }) =>
    importedVirtualServices(bound, importsOf(importing)),
);

const egressListenerOf = query(
  "egress listener",
  ({
    services,
    virtualServices,
    ...importing
  }: Importing & Pick<EgressListener, "services" | "virtualServices">): EgressListener => {
    const { spec } = importing;
    const port = trimmingPort(spec);
    return {
      spec,
      matchPort: port !== undefined,
      importsEverything: importsOf(importing).everything && port === undefined,
      services,
      virtualServices,
      virtualServiceByHost: lazily(() => virtualServiceByHost(virtualServices, services)),
    };
  },
);

/** What a gateway workload sees: all that is exported to its namespace; Sidecar objects mean nothing to it. */
export function gatewayScope(sources: ScopeSources, namespace: string, memo: Memo): SidecarScope {
  const { services: index, virtualServices } = sources;
  const id = `gateway:${namespace}`;
  const seen =
    index.routesOnly.length === 0 ? index.visibleTo(namespace) : [...index.visibleTo(namespace), ...index.routesOnly];
  const visible = keepList(memo, `visible services|${namespace}`, seen);
  const { services, serviceByHostname } = unitedServices(memo, { services: visible });
  const bound = virtualServices.forGateway(namespace, meshGateway);
  const destinationRules = destinationRulesOf(services, id, namespace, sources, memo);
  return scopeOfParts(memo, {
    id,
    namespace,
    sidecar: undefined,
    egressListeners: internList(memo, [gatewayListener(memo, { services, virtualServices: bound })]),
    services,
    serviceByHostname,
    destinationRules,
    outboundMode: sources.meshConfig.outboundTrafficPolicy.mode,
  });
}

const gatewayListener = query(
  "egress listener of a gateway",
  (imported: Pick<EgressListener, "services" | "virtualServices">): EgressListener => ({
    ...imported,
    spec: undefined,
    matchPort: false,
    importsEverything: true,
    virtualServiceByHost: () => new Map(),
  }),
);

/** The listener's port when it trims services to it: any number, unless the listener is an HTTP proxy. */
function trimmingPort(spec: IstioEgressListener | undefined): number | undefined {
  const number = spec?.port?.number ?? 0;
  return number === 0 || spec?.port?.protocol?.toUpperCase() === "HTTP_PROXY" ? undefined : number;
}

type Union = Pick<SidecarScope, "services" | "serviceByHostname">;

/** One service a host. */
const unitedServices = query(
  "united services",
  ({ services }: { readonly services: readonly Service[] }, memo: Memo): Union => {
    const union = serviceUnion(memo);
    for (const service of services) union.add(service);
    const same = union.services.length === services.length && union.services.every((of, at) => of === services[at]);
    return { services: same ? services : union.services, serviceByHostname: union.byHostname };
  },
);

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
  const hasAll = listeners.length === 1 && first?.importsEverything === true && !index.hidesOwn(namespace);
  if (hasAll && index.routesOnly.length === 0) return unitedServices(memo, { services: first.services });
  const find = (hostname: string): Service | undefined => {
    const service = index.visibleService(hostname, namespace);
    return hasAll && service?.attributes.routesOnly !== true ? undefined : service;
  };
  const union = serviceUnion(memo);
  for (const listener of listeners) {
    for (const service of listener.services) union.add(service);
    addDestinations(union, find, listener, namespace, memo);
  }
  return unitedServices(memo, { services: keepList(memo, `services|${id}`, union.services) });
}

function addDestinations(
  union: ServiceUnion,
  find: (hostname: string) => Service | undefined,
  listener: EgressListener,
  namespace: string,
  memo: Memo,
): void {
  const port = trimmingPort(listener.spec);
  for (const { config } of listener.virtualServices) {
    const destinations = destinationsFrom(memo, { config, namespace });
    for (const [hostname, ports] of destinations) {
      const service = find(hostname);
      if (service === undefined) continue;
      const wanted = (): Service | undefined => (ports.length === 0 ? service : withPorts(service, ports, memo));
      const reduced = port === undefined ? wanted() : withListenerPort(service, port, memo);
      if (reduced !== undefined) union.add(reduced);
    }
  }
}

const destinationsFrom = query(
  "destinations of a virtual service",
  ({ config, namespace }: { readonly config: Config<VirtualService>; readonly namespace: string }) =>
    destinationsOf(config.spec, namespace),
);

/** Rules of the services by host; namespaces for which all of them are the same share the map. */
function destinationRulesOf(
  services: readonly Service[],
  id: string,
  namespace: string,
  { destinationRules: index }: ScopeSources,
  memo: Memo,
): SidecarScope["destinationRules"] {
  return keepMap(memo, `destination rules|${id}`, rulesOfServices(memo, { services, index, namespace }));
}

interface RuleInputs {
  readonly services: readonly Service[];
  readonly index: DestinationRuleIndex;
  readonly namespace: string;
}

const rulesOfServices = query(
  "destination rules of services",
  ({ services, index, namespace }: RuleInputs, memo: Memo) => {
    const rules = new Map<string, readonly MeshDestinationRule[]>();
    for (const service of services) {
      const candidates = index.lookup(namespace, service.hostname, service.attributes.namespace);
      if (candidates.length > 0) rules.set(service.hostname, candidates);
    }
    return rulesByHost(memo, { hosts: [...rules.keys()], candidates: internList(memo, [...rules.values()]) });
  },
);

const rulesByHost = query(
  "destination rules by host",
  { hosts: "value" },
  ({
    hosts,
    candidates,
  }: {
    readonly hosts: readonly string[];
    readonly candidates: readonly (readonly MeshDestinationRule[])[];
  }): SidecarScope["destinationRules"] => new Map(candidates.map((rules, at) => [hosts[at] ?? "", rules])),
);

/**
 * Keys of every object that the scope was made from, as `kind/namespace/name`; services stand as `ServiceEntry/namespace/host`.
 * A change of any other service, virtual service, destination rule or Sidecar cannot change the scope.
 * @see docs/how-istio-does-it/sidecar-scopes.md#what-a-scope-depends-on
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
