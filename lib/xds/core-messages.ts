/** Parts of `envoy.config.core.v3` that messages of several types have. */
import type { CidrRangeJson } from "../../gen/envoy/config/core/v3/address_pb.ts";
import type { ConfigSourceJson } from "../../gen/envoy/config/core/v3/config_source_pb.ts";
import type { Http1ProtocolOptionsJson } from "../../gen/envoy/config/core/v3/protocol_pb.ts";
import { readIpRange } from "../config/values/ip-address.ts";

/** An open Any: a message's JSON with its type in front. `T` is the message's own generated Json type. */
export type PackedJson<T extends object> = { readonly "@type": string } & T;

/** Packs a message into an Any. `type` is the full name without the prefix: `envoy.extensions.…v3.TcpProxy`. */
export function packAny<T extends object>(type: string, message: T): PackedJson<T> {
  return { "@type": `type.googleapis.com/${type}`, ...message };
}

/**
 * Over the stream that brought what asks. Envoy waits for the first answer for as long as it takes: without it, what asks
 * does not start. The poll shape has another source in its place.
 */
export const overAds: ConfigSourceJson = { ads: {}, initialFetchTimeout: "0s", resourceApiVersion: "V3" };

/** Reads `10.0.0.0/24` or a bare address (then with all its bits); undefined for anything else. Host bits stay, spelling is canonical. */
export function cidrRange(text: string): CidrRangeJson | undefined {
  const range = readIpRange(text);
  return range === undefined ? undefined : { addressPrefix: range.address, prefixLen: range.bits };
}

/** Lets HTTP/1 header names pass as they were written: for both ends of a proxy, since either would lower their case. */
export const preserveCase: NonNullable<Http1ProtocolOptionsJson["headerKeyFormat"]> = {
  statefulFormatter: {
    name: "preserve_case",
    typedConfig: packAny("envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig", {}),
  },
};
