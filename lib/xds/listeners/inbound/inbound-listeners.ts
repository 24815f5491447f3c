import type {
  FilterChainJson,
  ListenerFilterJson,
} from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { ConfigKey } from "../../../base/diagnostic.ts";
import { query } from "../../../incremental/query.ts";
import type { InboundView } from "../../../mesh/views/views.ts";
import { packAny } from "../../core-messages.ts";
import { listenerName, virtualInboundBlackHoleChain, virtualInboundListener } from "../../names.ts";
import type { Resource } from "../../resource.ts";
import { envoyAddress } from "../bind.ts";
import { blackHoleFilters } from "../filters/tcp-proxy.ts";
import { inboundInspectors, type PortNeeds } from "../inspector.ts";
import type { ListenerContext } from "../listener-context.ts";
import { connectionLimit, exactBalanceField } from "../socket-fields.ts";
import { inboundPassthroughChains, inboundPortChains } from "./inbound-filter-chain.ts";
import { type InboundWalk, inboundPorts } from "./inbound-port.ts";

/** Mark of packets that keep the client's address, which the proxy's routing rules know. */
const transparentMark = 1337;

const originalDst: ListenerFilterJson = {
  name: "envoy.filters.listener.original_dst",
  typedConfig: packAny("envoy.extensions.filters.listener.original_dst.v3.OriginalDst", {}),
};

const originalSrc: ListenerFilterJson = {
  name: "envoy.filters.listener.original_src",
  typedConfig: packAny("envoy.extensions.filters.listener.original_src.v3.OriginalSrc", { mark: transparentMark }),
};

/**
 * The inbound listeners of a sidecar: the one that all traffic is redirected to, and those of a Sidecar that bind ports
 * of their own.
 *
 * @see docs/how-istio-does-it/listeners.md#virtualinbound
 */
export function inboundListeners(walk: InboundWalk): readonly Resource<ListenerJson>[] {
  const { inbound, context, memo } = walk;
  const ports = inboundPorts(walk);
  const own = ports
    .filter((port) => port.bindToPort)
    .map((port) =>
      inboundListener(walk, {
        name: listenerName(port.bind, port.targetPort),
        bind: port.bind,
        port: port.targetPort,
        bindToPort: true,
        chains: inboundPortChains(walk, port),
        from: port.from,
      }),
    );
  if (context.proxy.interceptionMode === "NONE") return own;
  const redirected = ports.filter((port) => !port.bindToPort);
  const virtual = inboundListener(walk, {
    name: virtualInboundListener,
    bind: context.wildcards[0],
    port: context.mesh.proxyInboundListenPort,
    bindToPort: false,
    chains: [
      blackHoleChain(memo, { context }),
      ...inboundPassthroughChains(walk, servedPorts(inbound)),
      ...redirected.flatMap((port) => inboundPortChains(walk, port)),
    ],
    from: redirected.flatMap((port) => port.from),
  });
  return [virtual, ...own];
}

/** Ports that a Sidecar declares, or any service of the workload has, whether or not they got chains. */
function servedPorts({ ingressListeners, targets }: InboundView): ReadonlySet<number> {
  return new Set(
    ingressListeners.length > 0
      ? ingressListeners.map((listener) => listener.port.number ?? 0)
      : targets.map((target) => target.targetPort),
  );
}

const blackHoleChain = query(
  "inbound black hole",
  ({ context }: { readonly context: ListenerContext }): FilterChainJson => ({
    name: virtualInboundBlackHoleChain,
    filterChainMatch: { destinationPort: context.mesh.proxyInboundListenPort },
    filters: blackHoleFilters(context, "inbound"),
  }),
);

interface InboundListener {
  readonly name: string;
  readonly bind: string;
  readonly port: number;
  readonly bindToPort: boolean;
  readonly chains: readonly FilterChainJson[];
  readonly from: readonly ConfigKey[];
}

function inboundListener({ context, memo }: InboundWalk, listener: InboundListener): Resource<ListenerJson> {
  const { from, ...inputs } = listener;
  return { name: listener.name, json: inboundJson(memo, { context, ...inputs }), from };
}

interface Inputs extends Omit<InboundListener, "from"> {
  readonly context: ListenerContext;
}

const inboundJson = query("inbound listener", { chains: "elements" }, jsonOf);

function jsonOf({ context, name, bind, port, bindToPort, chains }: Inputs): ListenerJson {
  const { mesh, proxy, options, server } = context;
  const transparent = !bindToPort && proxy.interceptionMode === "TPROXY";
  const listenerFilters = [
    ...(bindToPort ? [] : [originalDst]),
    ...(transparent ? [originalSrc] : []),
    ...inboundInspectors(portNeeds(chains)),
  ];
  const accessLog = server.logs.listener;
  return {
    name,
    address: envoyAddress(bind, port),
    filterChains: [...chains],
    ...(listenerFilters.length === 0 ? {} : { listenerFilters }),
    listenerFiltersTimeout: mesh.protocolDetectionTimeout,
    continueOnListenerFiltersTimeout: true,
    ...(transparent ? { transparent: true } : {}),
    trafficDirection: "INBOUND",
    ...exactBalanceField(options.inboundExactBalance),
    ...(accessLog.length === 0 ? {} : { accessLog: [...accessLog] }),
    ...connectionLimit,
  };
}

function portNeeds(chains: readonly FilterChainJson[]): ReadonlyMap<number, PortNeeds> {
  const needs = new Map<number, PortNeeds>();
  for (const { filterChainMatch: match } of chains) {
    const port = Number(match?.destinationPort ?? 0);
    const before = needs.get(port) ?? { tls: false, http: false };
    const protocols = match?.applicationProtocols ?? [];
    needs.set(port, {
      tls: before.tls || match?.transportProtocol === "tls",
      http: before.http || protocols.includes("http/1.1") || protocols.includes("h2c"),
    });
  }
  return needs;
}
