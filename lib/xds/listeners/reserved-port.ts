import type { ServicePort } from "../../registry/service.ts";
import type { ListenerContext } from "./listener-context.ts";
import { type Binding, protocolClass } from "./outbound/outbound-entry.ts";

/** Below this only privileged processes may bind. */
const firstUnprivilegedPort = 1024;

/**
 * Whether a listener may exist: not on a port that the bootstrap's own listeners or the virtual listeners hold on the same
 * address, and not on a privileged port of a pod that has no right to it.
 *
 * @param origin the inbound ports of a Sidecar do not ask about the virtual listeners
 * @see docs/how-istio-does-it/listeners.md#reserved-ports
 */
export function canBind(
  { options, mesh, wildcards }: ListenerContext,
  binding: Binding,
  port: Pick<ServicePort, "port" | "protocol">,
  origin: "service" | "sidecar-ingress",
): boolean {
  const { unprivilegedPod, statusPort, prometheusPort } = options;
  if (binding.bindToPort && unprivilegedPod && port.port > 0 && port.port < firstUnprivilegedPort) return false;
  const [bind = ""] = binding.binds;
  const onWildcard = bind === "" ? protocolClass(port.protocol) === "HTTP" : bind === wildcards[0];
  if (!onWildcard) return true;
  if (port.port === statusPort || port.port === prometheusPort) return false;
  const { proxyListenPort, proxyInboundListenPort } = mesh;
  return origin === "sidecar-ingress" || (port.port !== proxyListenPort && port.port !== proxyInboundListenPort);
}
