import type {
  HttpConnectionManager_ForwardClientCertDetailsJson,
  HttpConnectionManager_SetCurrentClientCertDetailsJson,
  HttpConnectionManagerJson,
} from "../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { ForwardClientCertDetails, ProxyHeaders } from "../../../config/kinds/mesh-proxy-config.ts";
import type { ClassProxyConfig } from "../../../mesh/views/views.ts";
import type { ListenerClass } from "./policy-filters.ts";

/** Name that Istio's proxies answer with; the outbound side keeps Envoy's own. */
const serverName = "istio-envoy";

/** Who the proxy says it is, and whether it makes request ids. @see docs/how-istio-does-it/listeners.md#connection-manager */
export function serverFields(config: ClassProxyConfig, listenerClass: ListenerClass): HttpConnectionManagerJson {
  const { server, requestId } = config.proxyHeaders ?? {};
  const defaultName = listenerClass === "outbound" ? "" : serverName;
  const name = server?.value === undefined || server.value === "" ? defaultName : server.value;
  const hidden = server?.disabled === true;
  return {
    ...(hidden || name === "" ? {} : { serverName: name }),
    ...(hidden ? { serverHeaderTransformation: "PASS_THROUGH" } : {}),
    ...(requestId?.disabled === true ? { generateRequestId: false } : {}),
  };
}

/** What an inbound listener tells the workload about the client's certificate. */
export function inboundCertificateFields(config: ClassProxyConfig): HttpConnectionManagerJson {
  const headers = config.proxyHeaders ?? {};
  return {
    ...forwardField(chosen(headers.forwardedClientCert) ?? "APPEND_FORWARD"),
    setCurrentClientCertDetails: inboundDetails(headers),
  };
}

/** What a gateway tells about the client's certificate: gateways ask the topology, not the proxy headers. */
export function gatewayCertificateFields(config: ClassProxyConfig): HttpConnectionManagerJson {
  const details = chosen(config.gatewayTopology?.forwardClientCertDetails) ?? "SANITIZE_SET";
  const forwards = details === "APPEND_FORWARD" || details === "SANITIZE_SET";
  return {
    ...forwardField(details),
    ...(forwards ? { setCurrentClientCertDetails: { subject: true, cert: true, dns: true, uri: true } } : {}),
  };
}

function chosen(
  details: ForwardClientCertDetails | undefined,
): HttpConnectionManager_ForwardClientCertDetailsJson | undefined {
  return details === undefined || details === "UNDEFINED" ? undefined : details;
}

function forwardField(details: HttpConnectionManager_ForwardClientCertDetailsJson): HttpConnectionManagerJson {
  return details === "SANITIZE" ? {} : { forwardClientCertDetails: details };
}

function inboundDetails({
  setCurrentClientCertDetails: set,
}: ProxyHeaders): HttpConnectionManager_SetCurrentClientCertDetailsJson {
  return {
    subject: set?.subject ?? true,
    ...((set?.uri ?? true) ? { uri: true } : {}),
    ...((set?.dns ?? true) ? { dns: true } : {}),
    ...(set?.cert === true ? { cert: true } : {}),
    ...(set?.chain === true ? { chain: true } : {}),
  };
}
