import type { Diagnostic } from "../../../base/diagnostic.ts";
import type { MeshVirtualService } from "../../../mesh/index/virtual-service-index.ts";
import { isDynamicWildcard, type Service, type ServicePort } from "../../../registry/service.ts";
import { listenerName, sniffedRouteTableName } from "../../names.ts";
import { originKeys } from "../../provenance.ts";
import { listenAddresses } from "../listen-address.ts";
import type { ListenerContext, ListenerWalk } from "../listener-context.ts";
import {
  appendChains,
  type Binding,
  conflictOf,
  type OutboundChain,
  type OutboundEntry,
  protocolClass,
} from "./outbound-entry.ts";
import { outboundHttpChain } from "./outbound-http-chain.ts";
import { outboundTcpChains } from "./outbound-tcp-chains.ts";

/** Listeners of a class so far, by name. */
export type OutboundEntries = Map<string, OutboundEntry>;

/** One service port that wants a listener. */
export interface OutboundTarget {
  readonly service: Service;
  /** The port to listen on: the service's, or the one of a Sidecar's egress listener. */
  readonly port: ServicePort;
  readonly binding: Binding;
  /** Those of the egress listener that have any `tcp` or `tls` route. */
  readonly virtualServices: readonly MeshVirtualService[];
}

/** Binds of a listener with the ranges that its chains must match. */
interface Bound {
  readonly binding: Binding;
  readonly cidrs: readonly string[];
}

/**
 * Gives a service port its listener, or its part of one.
 * @see docs/how-istio-does-it/listeners.md#addresses-of-outbound-listeners
 * @see docs/how-istio-does-it/listeners.md#conflicts
 */
export function addOutboundService(walk: ListenerWalk, entries: OutboundEntries, target: OutboundTarget): void {
  const { context, report } = walk;
  const { service, port } = target;
  const kind = protocolClass(port.protocol);
  if (kind === "none" || service.resolution === "Alias") return;
  const { binding, cidrs } = kind === "HTTP" ? bindHttp(context, target) : bindTcp(context, target);
  const bind = binding.binds[0] ?? "";
  const name = listenerName(bind, port.port);
  const existing = entries.get(name);
  if (existing?.locked === true) return;
  // An HTTP proxy is made right away: it knows no neighbours.
  const conflict = port.protocol === "HTTP_PROXY" ? "create" : conflictOf(existing, port.protocol);
  if (conflict === "keep") return;
  if (conflict === "drop") {
    report(listenerConflict(name, target, existing));
    return;
  }
  const chains: OutboundChain[] =
    kind === "HTTP" ? [] : [...outboundTcpChains(walk, { service, port, bind, cidrs }, target.virtualServices)];
  if (kind !== "TCP") chains.push(httpChain(walk, target, bind));
  if (conflict === "create" || conflict === "replace" || existing === undefined) {
    // A wildcard HTTP listener lets TCP through, so that it counts as sniffed from the start.
    const protocol = kind === "HTTP" && isSniffed(context, target, bind) ? "Unsupported" : port.protocol;
    const from = [...originKeys(service)];
    entries.set(name, { binding, port: port.port, protocol, locked: false, chains, from, taken: undefined });
    return;
  }
  if (appendChains(existing, chains) > 0) report(listenerConflict(name, target, existing));
  existing.from.push(...originKeys(service));
  if (conflict === "mergeAndSniff") existing.protocol = "Unsupported";
}

function bindHttp({ wildcards }: ListenerContext, { binding }: OutboundTarget): Bound {
  return { binding: binding.binds.length === 0 ? { ...binding, binds: wildcards } : binding, cidrs: [] };
}

function bindTcp({ proxy, wildcards }: ListenerContext, { binding, service }: OutboundTarget): Bound {
  if (binding.binds.length > 0) return { binding, cidrs: [] };
  const addresses = listenAddresses(service, proxy);
  // A range cannot be bound: everything is, and the chains look at the address.
  const { bindToPort } = binding;
  if (addresses[0]?.includes("/") === true) return { binding: { binds: wildcards, bindToPort }, cidrs: addresses };
  return { binding: { binds: addresses, bindToPort }, cidrs: [] };
}

function isSniffed({ wildcards }: ListenerContext, { port }: OutboundTarget, bind: string): boolean {
  return port.protocol === "Unsupported" || (port.protocol !== "HTTP_PROXY" && bind === wildcards[0]);
}

function httpChain({ context, memo }: ListenerWalk, target: OutboundTarget, bind: string): OutboundChain {
  const { service, port } = target;
  const own = port.protocol === "Unsupported" && bind !== context.wildcards[0];
  const shared = port.port === 0 ? bind : String(port.port);
  return outboundHttpChain(memo, {
    context,
    bind,
    port: port.port,
    protocol: port.protocol,
    // A sniffed service with an address has its listener and its table for itself.
    routeTable: own && port.port !== 0 ? sniffedRouteTableName(service.hostname, port.port) : shared,
    sniffed: isSniffed(context, target, bind),
    resolved: isDynamicWildcard(service) ? service : undefined,
    isHttpProxy: false,
  });
}

function listenerConflict(
  name: string,
  { service, port }: OutboundTarget,
  existing: OutboundEntry | undefined,
): Diagnostic {
  const [origin] = service.origins;
  return {
    code: "listener-conflict",
    severity: "warning",
    origin: origin ?? {
      key: { group: "", kind: "Service", name: service.attributes.name, namespace: service.attributes.namespace },
      file: "",
      line: 0,
    },
    path: [],
    message: `port ${port.port} (${port.protocol}) of ${service.hostname} is not reachable through the listener ${name}, which ${existing?.protocol ?? "another protocol"} holds already`,
    hint: "give the service an address of its own, another port, or a declared protocol",
  };
}
