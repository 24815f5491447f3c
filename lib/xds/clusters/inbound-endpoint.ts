import type { AddressJson } from "../../../gen/envoy/config/core/v3/address_pb.ts";
import { ipFamily } from "../../config/values/ip-address.ts";

/** Where an inbound cluster leads. `original`: to the address that the caller connected to. */
export type InboundEndpoint =
  | { readonly kind: "original" }
  | { readonly kind: "loopback"; readonly address: AddressJson }
  | { readonly kind: "address"; readonly address: AddressJson };

const original: InboundEndpoint = { kind: "original" };

const loopbackOf = { IPv4: "127.0.0.1", IPv6: "::1" } as const;

function socket(kind: "loopback" | "address", address: string, port: number): InboundEndpoint {
  return { kind, address: { socketAddress: { address, portValue: port } } };
}

/** The loopback address of a family. */
export function loopback(family: "IPv4" | "IPv6", port: number): InboundEndpoint {
  return socket("loopback", loopbackOf[family], port);
}

/**
 * Reads `defaultEndpoint` of a Sidecar's ingress listener: `unix://path`, a loopback address, or a wildcard address,
 * which means the pod's own one of that family. A loopback of a family that the proxy lacks becomes the other's.
 *
 * @param own addresses of the proxy, in order
 * @see docs/how-istio-does-it/clusters.md#inbound-clusters
 */
export function readDefaultEndpoint(text: string, own: readonly string[]): InboundEndpoint {
  if (text.startsWith("unix://")) return { kind: "address", address: { pipe: { path: text.slice("unix://".length) } } };
  const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(text);
  if (match === null) return original;
  const host = match[1] ?? match[2] ?? "";
  const port = Number(match[3]);
  const has = (family: "IPv4" | "IPv6"): boolean => own.some((address) => ipFamily(address) === family);
  switch (host) {
    case "127.0.0.1":
      return loopback(has("IPv4") || !has("IPv6") ? "IPv4" : "IPv6", port);
    case "::1":
      return loopback(has("IPv6") || !has("IPv4") ? "IPv6" : "IPv4", port);
    case "0.0.0.0":
      return ownAddress("IPv4", own, port);
    case "::":
      return ownAddress("IPv6", own, port);
    default:
      return original;
  }
}

function ownAddress(family: "IPv4" | "IPv6", own: readonly string[], port: number): InboundEndpoint {
  const address = own.find((candidate) => ipFamily(candidate) === family);
  return address === undefined ? loopback(family, port) : socket("address", address, port);
}
