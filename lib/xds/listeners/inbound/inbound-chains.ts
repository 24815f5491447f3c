import { unreachable } from "../../../base/diagnostic.ts";
import type { MutualTlsMode } from "../../../mesh/views/views.ts";
import { istioAlpns, istioHttpAlpns, istioTcpAlpns, plainHttpAlpns } from "../filters/alpn.ts";
import type { ProtocolClass } from "../outbound/outbound-entry.ts";

/** One of the chains that serve an inbound port. */
export interface InboundChainKind {
  readonly transportProtocol: "tls" | "raw_buffer";
  /** Empty: any. */
  readonly applicationProtocols: readonly string[];
  /** Ends the mesh's TLS; a `tls` chain that does not hands the bytes on. */
  readonly terminates: boolean;
  readonly carries: "http" | "tcp";
}

const strictHttp = chain("tls", [], true, "http");
const strictTcp = chain("tls", [], true, "tcp");
const plainHttp = chain("raw_buffer", [], false, "http");
const plainTcp = chain("raw_buffer", [], false, "tcp");
const sniffedPlainHttp = chain("raw_buffer", plainHttpAlpns, false, "http");
const sniffedMeshHttp = chain("tls", istioHttpAlpns, true, "http");
const foreignTls = chain("tls", [], false, "tcp");

/**
 * The chains of an inbound port, in order. A port declared HTTP takes no foreign TLS; a sniffed one asks the ALPN what a
 * mesh client has recognised.
 *
 * @param protocol of the port; ports that no service names are sniffed
 * @see docs/how-istio-does-it/listeners.md#inbound-chains
 */
export function inboundChainKinds(mode: MutualTlsMode, protocol: ProtocolClass): readonly InboundChainKind[] {
  switch (protocol) {
    case "HTTP":
      return {
        STRICT: [strictHttp],
        PERMISSIVE: [chain("tls", istioAlpns, true, "http"), plainHttp],
        DISABLE: [plainHttp],
      }[mode];
    case "auto":
      return {
        STRICT: [sniffedMeshHttp, strictTcp],
        PERMISSIVE: [sniffedMeshHttp, sniffedPlainHttp, chain("tls", istioTcpAlpns, true, "tcp"), plainTcp, foreignTls],
        DISABLE: [sniffedPlainHttp, plainTcp],
      }[mode];
    case "TCP":
    case "none":
      return {
        STRICT: [strictTcp],
        PERMISSIVE: [chain("tls", istioAlpns, true, "tcp"), foreignTls, plainTcp],
        DISABLE: [plainTcp],
      }[mode];
    default:
      return unreachable(protocol);
  }
}

function chain(
  transportProtocol: InboundChainKind["transportProtocol"],
  applicationProtocols: readonly string[],
  terminates: boolean,
  carries: InboundChainKind["carries"],
): InboundChainKind {
  return { transportProtocol, applicationProtocols, terminates, carries };
}
