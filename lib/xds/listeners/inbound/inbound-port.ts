import type { ConfigKey } from "../../../base/diagnostic.ts";
import { type ConfigMeta, keyOf } from "../../../config/config.ts";
import type { IstioIngressListener } from "../../../config/kinds/sidecar.ts";
import { isGlobalUnicast } from "../../../config/values/ip-address.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { ingressBinds } from "../../../mesh/views/listeners/inbound-view.ts";
import type { InboundView } from "../../../mesh/views/views.ts";
import { parseProtocol } from "../../../registry/protocol.ts";
import type { Service, ServicePort } from "../../../registry/service.ts";
import { originKeys } from "../../provenance.ts";
import type { ListenerContext } from "../listener-context.ts";
import { canBind } from "../reserved-port.ts";

/** The making of the inbound side: of a class's views nothing else is read. */
export interface InboundWalk {
  readonly inbound: InboundView;
  readonly context: ListenerContext;
  readonly memo: Memo;
}

/** A port that the workload serves. */
export interface InboundPort {
  readonly targetPort: number;
  readonly servicePort: ServicePort;
  /** Host that traces and statistics name; a Sidecar stands for itself as `name.namespace`. */
  readonly hostname: string;
  /** undefined where a Sidecar declares the port. */
  readonly service: Service | undefined;
  /** In names, and where the listener binds if it does. */
  readonly bind: string;
  readonly bindToPort: boolean;
  /** The Sidecar that declares the port. */
  readonly sidecar: ConfigMeta | undefined;
  readonly from: readonly ConfigKey[];
}

/**
 * Ports with chains of their own, by target port: those of the Sidecar's ingress list if it has one, else those of the
 * services that the workload backs. The first one to name a port wins.
 *
 * @see docs/how-istio-does-it/listeners.md#inbound-ports
 */
export function inboundPorts(walk: InboundWalk): readonly InboundPort[] {
  const { inbound, context } = walk;
  const { proxy } = context;
  const declared = inbound.ingressListeners.length > 0;
  // Without redirection the workload holds its ports itself, unless a Sidecar says where else to listen.
  if (!declared && proxy.interceptionMode === "NONE") return [];
  const ports = declared
    ? inbound.ingressListeners.flatMap((listener) => ingressPort(walk, listener))
    : servicePorts(walk);
  const byTarget = new Map<number, InboundPort>();
  for (const port of ports) {
    if (!byTarget.has(port.targetPort)) byTarget.set(port.targetPort, port);
  }
  return [...byTarget.values()].sort((a, b) => a.targetPort - b.targetPort);
}

function servicePorts({ inbound, context }: InboundWalk): readonly InboundPort[] {
  const [bind] = context.wildcards;
  return inbound.targets
    .filter(({ servicePort, targetPort }) => {
      const port = { port: targetPort, protocol: servicePort.protocol };
      return canBind(context, { binds: [bind], bindToPort: false }, port, "service");
    })
    .map(({ service, servicePort, targetPort }) => ({
      targetPort,
      servicePort,
      hostname: service.hostname,
      service,
      bind,
      bindToPort: false,
      sidecar: undefined,
      from: originKeys(service),
    }));
}

function ingressPort({ inbound, context }: InboundWalk, listener: IstioIngressListener): readonly InboundPort[] {
  const { number = 0, name = "", protocol = "" } = listener.port;
  const servicePort: ServicePort = { name, port: number, protocol: parseProtocol(protocol) };
  const bindToPort = ingressBinds(listener, context.proxy.interceptionMode);
  const declared = listener.bind ?? "";
  const binds = declared === "" ? [] : [declared];
  if (!canBind(context, { binds, bindToPort }, servicePort, "sidecar-ingress")) return [];
  const { sidecar } = inbound.scope;
  const meta = sidecar?.meta;
  return [
    {
      targetPort: number,
      servicePort,
      hostname: meta === undefined ? "" : `${meta.name}.${inbound.scope.namespace}`,
      service: undefined,
      bind: declared === "" ? (ownAddress(inbound) ?? context.wildcards[0]) : declared,
      bindToPort,
      // A root namespace's Sidecar counts as living in the namespace that it takes effect in.
      sidecar: meta === undefined ? undefined : { ...meta, namespace: inbound.scope.namespace },
      from: sidecar === undefined ? [] : [keyOf(sidecar)],
    },
  ];
}

/** The proxy's own address, where it has one that others can reach. */
function ownAddress({ ownAddresses }: InboundView): string | undefined {
  return ownAddresses.find(isGlobalUnicast);
}
