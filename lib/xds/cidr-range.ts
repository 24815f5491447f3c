import type { CidrRangeJson } from "../../gen/envoy/config/core/v3/address_pb.ts";
import { readIpRange } from "../config/ip-address.ts";

/** Reads `10.0.0.0/24` or a bare address (then with all its bits); undefined for anything else. Host bits stay, spelling is canonical. */
export function cidrRange(text: string): CidrRangeJson | undefined {
  const range = readIpRange(text);
  return range === undefined ? undefined : { addressPrefix: range.address, prefixLen: range.bits };
}
