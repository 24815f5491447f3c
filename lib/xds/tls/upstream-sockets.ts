import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { TransportSocketJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { UpstreamHttpProtocolOptionsJson } from "../../../gen/envoy/config/core/v3/protocol_pb.ts";
import type { UpstreamTlsContextJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import type { ClientTLSSettings, ProxyProtocol } from "../../config/kinds/destination-rule.ts";
import { packAny } from "../core-messages.ts";
import { meshTlsSocket, plainTextSocket } from "../names.ts";

/** The sockets of a cluster, one or a choice by endpoint metadata. */
export type Sockets = Pick<ClusterJson, "transportSocket" | "transportSocketMatches">;

const rawBuffer = packAny("envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer", {});
const plainText: TransportSocketJson = { name: "envoy.transport_sockets.raw_buffer", typedConfig: rawBuffer };

const takesMtls = { tlsMode: "istio" };
const otherwisePlain = { name: plainTextSocket, match: {}, transportSocket: plainText };

function tlsSocket(context: UpstreamTlsContextJson): TransportSocketJson {
  return {
    name: "envoy.transport_sockets.tls",
    typedConfig: packAny("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", context),
  };
}

/**
 * Puts a context on a cluster. Automatic mTLS is a choice for each endpoint, by the `tlsMode` of its metadata; a
 * cluster without endpoints of its own (original destination) has nothing to choose by and gets the context as it is.
 *
 * @see docs/how-istio-does-it/clusters.md#automatic-mtls
 */
export function tlsSockets(
  context: UpstreamTlsContextJson | undefined,
  automatic: boolean,
  originalDestination: boolean,
): Sockets {
  if (context === undefined) return {};
  const transportSocket = tlsSocket(context);
  if (!automatic || originalDestination) return { transportSocket };
  return { transportSocketMatches: [{ name: meshTlsSocket, match: takesMtls, transportSocket }, otherwisePlain] };
}

/** Wraps every socket so that it first says, in the PROXY protocol, whom it connects for. */
export function proxyProtocolSockets(sockets: Sockets, settings: ProxyProtocol | undefined): Sockets {
  if (settings === undefined) return sockets;
  const wrap = (transportSocket: TransportSocketJson): TransportSocketJson => ({
    name: "envoy.transport_sockets.upstream_proxy_protocol",
    typedConfig: packAny("envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport", {
      config: settings.version === "V2" ? { version: "V2" } : {},
      transportSocket,
    }),
  });
  if (sockets.transportSocketMatches !== undefined) {
    return {
      transportSocketMatches: sockets.transportSocketMatches.map((match) =>
        match.transportSocket === undefined ? match : { ...match, transportSocket: wrap(match.transportSocket) },
      ),
    };
  }
  // Istio names the plain socket it wraps differently from the one it chooses between.
  return { transportSocket: wrap(sockets.transportSocket ?? { name: "raw_buffer", typedConfig: rawBuffer }) };
}

/**
 * Where a rule originates TLS without saying for which name, Envoy takes SNI and expected name from the request.
 *
 * @param dynamic the cluster resolves the request's host: its name is always checked, unless checks are off
 */
export function automaticNames(
  settings: ClientTLSSettings,
  dynamic: boolean,
): UpstreamHttpProtocolOptionsJson | undefined {
  const autoSni = (settings.sni ?? "") === "";
  const unnamed = autoSni && (settings.subjectAltNames ?? []).length === 0;
  const autoSanValidation = (unnamed || dynamic) && settings.insecureSkipVerify !== true;
  if (!autoSni && !autoSanValidation) return undefined;
  return { ...(autoSni ? { autoSni } : {}), ...(autoSanValidation ? { autoSanValidation } : {}) };
}
