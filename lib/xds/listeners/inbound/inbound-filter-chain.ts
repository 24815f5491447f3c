import type { FilterChainJson, FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import { lazily } from "../../../mesh/memo/lazy.ts";
import type { Memo } from "../../../mesh/memo/memo.ts";
import { step } from "../../../mesh/memo/step.ts";
import type { MutualTlsMode } from "../../../mesh/views/views.ts";
import type { Protocol } from "../../../registry/service.ts";
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
import {
  type InboundRouteTarget,
  inboundPassthroughTarget,
  inboundRouteConfiguration,
} from "../../routes/inbound-route.ts";
import { meshDownstreamContext } from "../../tls/downstream-mesh.ts";
import { downstreamTlsSocket } from "../../tls/downstream-socket.ts";
import { httpConnectionManager } from "../filters/http-connection-manager.ts";
import { httpChainFilters, tcpChainFilters } from "../filters/network-filters.ts";
import { tcpProxyFilters } from "../filters/tcp-proxy.ts";
import type { ListenerContext } from "../listener-context.ts";
import { protocolClass } from "../outbound/outbound-entry.ts";
import { type InboundChainKind, inboundChainKinds } from "./inbound-chains.ts";
import type { InboundPort, InboundWalk } from "./inbound-port.ts";

/** What a set of inbound chains serves, reduced to what the chains say. */
interface InboundTarget {
  /** 0: any port. */
  readonly port: number;
  /** Port that TCP extensions are asked about: the service's, where HTTP ones are asked about the workload's. */
  readonly servicePort: number;
  readonly protocol: Protocol;
  readonly cluster: string;
  readonly tcpStatPrefix: string;
  readonly httpStatPrefix: string;
  readonly routes: InboundRouteTarget;
  readonly chainName: Readonly<Record<InboundChainKind["carries"], string>>;
  readonly metadata: FilterChainJson;
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
  const target: InboundTarget = {
    port: targetPort,
    servicePort: servicePort.port,
    protocol: servicePort.protocol,
    cluster,
    tcpStatPrefix:
      pattern === ""
        ? cluster
        : statName(pattern, { hostname, subset: "", port: servicePort.port, portName: servicePort.name, service }),
    httpStatPrefix: httpStatPrefix("inbound", name),
    routes: { hostname, servicePort, cluster },
    chainName: { http: name, tcp: name },
    metadata: sidecar === undefined ? {} : { metadata: { filterMetadata: { istio: { config: configPath(sidecar) } } } },
  };
  return inboundChains(memo, { context, target, mode: inbound.mtlsMode(targetPort) });
}

/**
 * The chains for traffic that no service names: for every port, and for each one that only a PeerAuthentication speaks of.
 * @see docs/how-istio-does-it/listeners.md#inbound-chains
 */
export function inboundPassthroughChains(
  { inbound, context, memo }: InboundWalk,
  served: ReadonlySet<number>,
): readonly FilterChainJson[] {
  const ports = inbound.portLevelPorts.filter((port) => !served.has(port)).toSorted((a, b) => a - b);
  return [0, ...ports].flatMap((port) => {
    const target: InboundTarget = {
      port,
      servicePort: 0,
      protocol: "Unsupported",
      cluster: inboundPassthroughCluster,
      tcpStatPrefix: passthroughStatPrefix(context),
      httpStatPrefix: altStatName(inboundPassthroughCluster),
      routes: inboundPassthroughTarget,
      chainName: { http: virtualInboundHttpChain, tcp: virtualInboundListener },
      metadata: {},
    };
    return inboundChains(memo, { context, target, mode: inbound.mtlsMode(port) });
  });
}

/** A pattern is filled for pass-through as well, with nothing to say but the port's name. */
function passthroughStatPrefix({ mesh }: ListenerContext): string {
  const pattern = mesh.inboundClusterStatName;
  if (pattern === "") return inboundPassthroughCluster;
  return statName(pattern, { hostname: "", subset: "", port: 0, portName: virtualInboundListener, service: undefined });
}

interface Inputs {
  readonly context: ListenerContext;
  readonly target: InboundTarget;
  readonly mode: MutualTlsMode;
}

const inboundChains = step(
  "inbound chains",
  { context: "identity", target: "value", mode: "value" },
  ({ context, target, mode }: Inputs, memo: Memo): readonly FilterChainJson[] => {
    // Chains of a port share their filters.
    const filters = {
      http: lazily(() => httpFilters(context, target, memo)),
      tcp: lazily(() => tcpFilters(context, target)),
    };
    return inboundChainKinds(mode, protocolClass(target.protocol)).map((kind) => ({
      name: target.chainName[kind.carries],
      filterChainMatch: {
        ...(target.port === 0 ? {} : { destinationPort: target.port }),
        transportProtocol: kind.transportProtocol,
        ...(kind.applicationProtocols.length === 0 ? {} : { applicationProtocols: [...kind.applicationProtocols] }),
      },
      filters: filters[kind.carries](),
      ...(kind.terminates ? { transportSocket: meshSocket(context, kind.carries) } : {}),
      ...target.metadata,
    }));
  },
);

function meshSocket({ mesh, options }: ListenerContext, carries: InboundChainKind["carries"]) {
  return downstreamTlsSocket(meshDownstreamContext(mesh, options.tlsServerFiles, carries));
}

function httpFilters(context: ListenerContext, target: InboundTarget, memo: Memo): FilterJson[] {
  const place = { class: "inbound", port: target.port } as const;
  const options = {
    place,
    statPrefix: target.httpStatPrefix,
    routes: { kind: "inline", table: inboundRouteConfiguration(target.routes) },
    protocol: target.protocol,
  } as const;
  return httpChainFilters(context, place, httpConnectionManager(context, options, memo));
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
