import type { CidrRangeJson } from "../../../gen/envoy/config/core/v3/address_pb.ts";
import { familyOf } from "../../mesh/service-address.ts";

/** Reads `10.0.0.0/24` or a bare address (then with all its bits); undefined for anything else. */
export function cidrRange(text: string): CidrRangeJson | undefined {
  const [address = "", bits] = text.split("/", 2);
  const family = familyOf(address);
  if (family === undefined) return undefined;
  const prefixLen = bits === undefined ? (family === "IPv4" ? 32 : 128) : Number(bits);
  if (!Number.isInteger(prefixLen)) return undefined;
  return { addressPrefix: address, prefixLen };
}
