import type { FilterChainJson, FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import { lazily } from "../../../incremental/lazy.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import type { MutualTlsMode } from "../../../mesh/views/views.ts";
import {
  altStatName,
  configPath,
  httpStatPrefix,
  inboundClusterName,
  inboundPassthroughCluster,
  listenerName,
  statName,
  virtualInboundHttpChain,
  virtualInboundListener,
} from "../../names.ts";
import { type InboundRouteTarget, inboundRouteConfiguration } from "../../routes/inbound-route.ts";
import { meshDownstreamContext } from "../../tls/downstream-mesh.ts";
import { downstreamTlsSocket } from "../../tls/downstream-socket.ts";
import { httpConnectionManager } from "../filters/http-connection-manager.ts";
import { httpChainFilters, tcpChainFilters } from "../filters/network-filters.ts";
import { tcpProxyFilters } from "../filters/tcp-proxy.ts";
import type { ListenerContext } from "../listener-context.ts";
import { protocolClass } from "../outbound/outbound-entry.ts";
import { type InboundChainKind, inboundChainKinds } from "./inbound-chains.ts";
import type { InboundPort, InboundWalk } from "./inbound-port.ts";

/** What a set of inbound chains serves, reduced to what the chains say. TCP extensions are asked about the service's port, HTTP ones about the workload's. */
interface InboundTarget extends InboundRouteTarget {
  /** Of the workload; 0: any. */
  readonly port: number;
  readonly tcpStatPrefix: string;
  readonly httpStatPrefix: string;
  readonly tcpChain: string;
  readonly httpChain: string;
  /** Path of the Sidecar that declares the port. */
  readonly sidecar: string | undefined;
}

/** The chains of a port that the workload serves. */
export function inboundPortChains(
  { inbound, context, memo }: InboundWalk,
  port: InboundPort,
): readonly FilterChainJson[] {
  const { targetPort, servicePort, hostname, service, bind, sidecar } = port;
  const cluster = inboundClusterName(targetPort);
  const name = listenerName(bind, targetPort);
  const pattern = context.mesh.inboundClusterStatName;
  return inboundChains(memo, {
    context,
    mode: inbound.mtlsMode(targetPort),
    port: targetPort,
    servicePort: servicePort.port,
    protocol: servicePort.protocol,
    hostname,
    cluster,
    tcpStatPrefix:
      pattern === ""
        ? cluster
        : statName(pattern, { hostname, subset: "", port: servicePort.port, portName: servicePort.name, service }),
    httpStatPrefix: httpStatPrefix("inbound", name),
    tcpChain: name,
    httpChain: name,
    sidecar: sidecar && configPath(sidecar),
  });
}

/**
 * The chains for traffic that no service names, which goes where it was going: for every port, and for each one that only a
 * PeerAuthentication speaks of.
 * @see docs/how-istio-does-it/listeners.md#inbound-chains
 */
export function inboundPassthroughChains(
  { inbound, context, memo }: InboundWalk,
  served: ReadonlySet<number>,
): readonly FilterChainJson[] {
  const ports = inbound.portLevelPorts.filter((port) => !served.has(port)).toSorted((a, b) => a - b);
  return [0, ...ports].flatMap((port) =>
    inboundChains(memo, {
      context,
      mode: inbound.mtlsMode(port),
      port,
      servicePort: 0,
      protocol: "Unsupported",
      hostname: "",
      cluster: inboundPassthroughCluster,
      tcpStatPrefix: passthroughStatPrefix(context),
      httpStatPrefix: altStatName(inboundPassthroughCluster),
      tcpChain: virtualInboundListener,
      httpChain: virtualInboundHttpChain,
      sidecar: undefined,
    }),
  );
}

/** A pattern is filled for pass-through as well, with nothing to say but the port's name. */
function passthroughStatPrefix({ mesh }: ListenerContext): string {
  const pattern = mesh.inboundClusterStatName;
  if (pattern === "") return inboundPassthroughCluster;
  return statName(pattern, { hostname: "", subset: "", port: 0, portName: virtualInboundListener, service: undefined });
}

interface Inputs extends InboundTarget {
  readonly context: ListenerContext;
  readonly mode: MutualTlsMode;
}

const inboundChains = query("inbound chains", (target: Inputs, memo: Memo): readonly FilterChainJson[] => {
  const { context, mode, port, protocol, httpChain, tcpChain, sidecar } = target;
  // Chains of a port share their filters.
  const filters = {
    http: lazily(() => httpFilters(context, target, memo)),
    tcp: lazily(() => tcpFilters(context, target)),
  };
  return inboundChainKinds(mode, protocolClass(protocol)).map((kind) => ({
    name: kind.carries === "http" ? httpChain : tcpChain,
    filterChainMatch: {
      ...(port === 0 ? {} : { destinationPort: port }),
      transportProtocol: kind.transportProtocol,
      ...(kind.applicationProtocols.length === 0 ? {} : { applicationProtocols: [...kind.applicationProtocols] }),
    },
    filters: filters[kind.carries](),
    ...(kind.terminates ? { transportSocket: meshSocket(context, kind.carries) } : {}),
    ...(sidecar === undefined ? {} : { metadata: { filterMetadata: { istio: { config: sidecar } } } }),
  }));
});

function meshSocket({ mesh, options }: ListenerContext, carries: InboundChainKind["carries"]) {
  return downstreamTlsSocket(meshDownstreamContext(mesh, options.tlsServerFiles, carries));
}

function httpFilters(context: ListenerContext, target: InboundTarget, memo: Memo): FilterJson[] {
  const chainTarget = { class: "inbound", port: target.port } as const;
  const options = {
    chainTarget,
    statPrefix: target.httpStatPrefix,
    routes: { kind: "inline", table: inboundRouteConfiguration(target, context.mesh.defaultInboundHttpRetryPolicy) },
    protocol: target.protocol,
  } as const;
  return httpChainFilters(context, chainTarget, httpConnectionManager(context, options, memo));
}

function tcpFilters(context: ListenerContext, target: InboundTarget): FilterJson[] {
  const terminal = tcpProxyFilters(context, "inbound", {
    statPrefix: target.tcpStatPrefix,
    destination: { kind: "cluster", cluster: target.cluster },
    protocol: target.protocol,
    policy: undefined,
  });
  return tcpChainFilters(context, { class: "inbound", port: target.servicePort }, terminal);
}
