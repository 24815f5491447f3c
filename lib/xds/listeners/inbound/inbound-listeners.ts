import type {
  FilterChainJson,
  ListenerFilterJson,
} from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { ConfigKey } from "../../../config/diagnostic.ts";
import { packAny } from "../../core-messages.ts";
import { listenerName, virtualInboundBlackHoleChain, virtualInboundListener } from "../../names.ts";
import type { Resource } from "../../resource.ts";
import { envoyAddress } from "../bind.ts";
import { blackHoleTcpProxy } from "../filters/tcp-proxy.ts";
import { inboundInspectors, type PortNeeds } from "../inspector.ts";
import type { ListenerContext } from "../listener-context.ts";
import { connectionLimit, exactBalanceField } from "../socket-fields.ts";
import { inboundPassthroughChains, inboundPortChains } from "./inbound-filter-chain.ts";
import { inboundPorts } from "./inbound-port.ts";

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
export function inboundListeners(context: ListenerContext): readonly Resource<ListenerJson>[] {
  const { view, wildcards } = context;
  const ports = inboundPorts(context);
  const own = ports
    .filter((port) => port.bindToPort)
    .map((port) =>
      inboundListener(context, {
        name: listenerName(port.bind, port.targetPort),
        bind: port.bind,
        port: port.targetPort,
        bindToPort: true,
        chains: inboundPortChains(context, port),
        from: port.from,
      }),
    );
  if (view.proxy.interceptionMode === "NONE") return own;
  const redirected = ports.filter((port) => !port.bindToPort);
  const virtual = inboundListener(context, {
    name: virtualInboundListener,
    bind: wildcards[0],
    port: view.lookups.mesh.proxyInboundListenPort,
    bindToPort: false,
    chains: [
      context.stable([], "inbound black hole", () => blackHoleChain(view.lookups.mesh.proxyInboundListenPort)),
      ...inboundPassthroughChains(context, servedPorts(context)),
      ...redirected.flatMap((port) => inboundPortChains(context, port)),
    ],
    from: redirected.flatMap((port) => port.from),
  });
  return [virtual, ...own];
}

/** Ports that a Sidecar declares, or any service of the workload has, whether or not they got chains. */
function servedPorts({ view }: ListenerContext): ReadonlySet<number> {
  const { ingressListeners, targets } = view.inbound;
  return new Set(
    ingressListeners.length > 0
      ? ingressListeners.map((listener) => listener.port.number ?? 0)
      : targets.map((target) => target.targetPort),
  );
}

function blackHoleChain(port: number): FilterChainJson {
  return {
    name: virtualInboundBlackHoleChain,
    filterChainMatch: { destinationPort: port },
    filters: [blackHoleTcpProxy],
  };
}

interface InboundListener {
  readonly name: string;
  readonly bind: string;
  readonly port: number;
  readonly bindToPort: boolean;
  readonly chains: readonly FilterChainJson[];
  readonly from: readonly ConfigKey[];
}

function inboundListener(context: ListenerContext, listener: InboundListener): Resource<ListenerJson> {
  const { name, bind, port, bindToPort, chains, from } = listener;
  const json = context.stable(chains, `inbound|${[name, bind, port, bindToPort].join("|")}`, () =>
    inboundJson(context, listener),
  );
  return { name, json, from };
}

function inboundJson(context: ListenerContext, listener: InboundListener): ListenerJson {
  const { view, telemetry } = context;
  const { name, bind, port, bindToPort, chains } = listener;
  const transparent = !bindToPort && view.proxy.interceptionMode === "TPROXY";
  const listenerFilters = [
    ...(bindToPort ? [] : [originalDst]),
    ...(transparent ? [originalSrc] : []),
    ...inboundInspectors(portNeeds(chains)),
  ];
  const accessLog = telemetry.SERVER.logs.listener;
  return {
    name,
    address: envoyAddress(bind, port),
    filterChains: [...chains],
    ...(listenerFilters.length === 0 ? {} : { listenerFilters }),
    listenerFiltersTimeout: view.lookups.mesh.protocolDetectionTimeout,
    continueOnListenerFiltersTimeout: true,
    ...(transparent ? { transparent: true } : {}),
    trafficDirection: "INBOUND",
    ...exactBalanceField(view.options.inboundExactBalance),
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
