import ipaddr from "ipaddr.js";
import type { CidrRangeJson } from "../../../gen/envoy/config/core/v3/address_pb.ts";

/** Reads `10.0.0.0/24` or a bare address (then with all its bits); undefined for anything else. Host bits stay, spelling is canonical. */
export function cidrRange(text: string): CidrRangeJson | undefined {
  const [address = "", bits] = text.split("/", 2);
  const whole = wholePrefix(address);
  if (whole === undefined) return undefined;
  const prefixLen = bits === undefined ? whole : Number(bits);
  return Number.isInteger(prefixLen) && prefixLen >= 0 && prefixLen <= whole
    ? { addressPrefix: ipaddr.parse(address).toString(), prefixLen }
    : undefined;
}

/** The range that a text names, host bits cleared: `10.1.2.3/8` is `10.0.0.0/8`. undefined for what is no range. */
export function maskedCidr(text: string): string | undefined {
  const range = cidrRange(text);
  if (range === undefined) return undefined;
  const length = Number(range.prefixLen);
  const bytes = ipaddr.parse(range.addressPrefix ?? "").toByteArray();
  const masked = bytes.map((byte, index) => byte & maskOfByte(length - index * 8));
  return `${ipaddr.fromByteArray(masked).toString()}/${length}`;
}

/** All bits of an address; undefined for what is none. */
function wholePrefix(address: string): 32 | 128 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return 32;
  return address.includes(":") && ipaddr.IPv6.isValid(address) ? 128 : undefined;
}

/** Mask of one byte when so many bits of it and what follows belong to the prefix. */
function maskOfByte(bits: number): number {
  if (bits >= 8) return 0xff;
  return bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff;
}
