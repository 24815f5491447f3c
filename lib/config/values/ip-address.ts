/**
 * Addresses and ranges as Istio reads them, which is stricter than the library: an IPv4 address has four decimal parts, the
 * bits of a range no leading zero, and a range no zone.
 * @see https://pkg.go.dev/net/netip
 */
import ipaddr from "ipaddr.js";

/** Four numbers of a byte each, without leading zeros. */
const fourBytes = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/** Is the text an IPv4 or IPv6 address (four decimal parts, no prefix length)? */
export function isIpAddress(text: string): boolean {
  // The library answers "no" by throwing inside, which costs too much for host names, and a mesh has tens of thousands of addresses.
  return fourBytes.test(text) || (text.includes(":") && ipaddr.IPv6.isValid(text));
}

export type IpFamily = "IPv4" | "IPv6";

/** Family of an address or a range. */
export function ipFamily(address: string): IpFamily {
  return address.includes(":") ? "IPv6" : "IPv4";
}

/** Which families a list of addresses has; IPv4 for none. */
export function ipMode(addresses: readonly string[]): IpFamily | "dual" {
  const v6 = addresses.some((address) => ipFamily(address) === "IPv6");
  const v4 = addresses.some((address) => ipFamily(address) === "IPv4");
  return v4 && v6 ? "dual" : v6 ? "IPv6" : "IPv4";
}

/** The addresses that begin with some bits of one. */
export interface IpRange {
  /** In canonical spelling; bits behind the prefix stay as they were written. */
  readonly address: string;
  /** 0 to 32, or to 128. */
  readonly bits: number;
}

/** Reads `10.0.0.0/8`, or a bare address as the range of it alone; undefined for anything else. */
export function readIpRange(text: string): IpRange | undefined {
  const [address = "", bits, ...more] = text.split("/");
  if (!isIpAddress(address) || more.length > 0) return undefined;
  const whole = ipFamily(address) === "IPv4" ? 32 : 128;
  if (bits === undefined) return { address: canonicalAddress(address), bits: whole };
  if (!/^(?:0|[1-9]\d*)$/.test(bits) || Number(bits) > whole || address.includes("%")) return undefined;
  return { address: canonicalAddress(address), bits: Number(bits) };
}

/** Is the text a range with its bits, `10.0.0.0/8`? */
export const isCidr = (text: string): boolean => text.includes("/") && readIpRange(text) !== undefined;

/** Is the text an address or a range? */
export const isIpOrCidr = (text: string): boolean => readIpRange(text) !== undefined;

/** Whether an address lies in a range, `10.0.0.0/8`, or is the address that it names; false for what is neither. */
export function isInRange(address: string, range: string): boolean {
  const read = readIpRange(range);
  if (read === undefined || !ipaddr.isValid(address)) return false;
  const [one, other] = [ipaddr.parse(address), ipaddr.parse(read.address)];
  return one.kind() === other.kind() && one.match(other, read.bits);
}

/** The range that a text names, bits behind the prefix cleared: `10.1.2.3/8` is `10.0.0.0/8`. undefined for what is no range. */
export function maskedCidr(text: string): string | undefined {
  const range = readIpRange(text);
  if (range === undefined) return undefined;
  const { address, bits } = range;
  const { IPv4, IPv6 } = ipaddr;
  const network = (ipFamily(address) === "IPv4" ? IPv4 : IPv6).networkAddressFromCIDR(`${address}/${bits}`);
  return `${network.toString()}/${bits}`;
}

/** IPv4 addresses in an IPv6 one keep their dots. */
export function canonicalAddress(address: string): string {
  const parsed = ipaddr.parse(address);
  const inside = parsed.kind() === "ipv6" ? ipaddr.process(address) : parsed;
  return inside.kind() === parsed.kind() ? parsed.toString() : `::ffff:${inside.toString()}`;
}

const notGlobal: ReadonlySet<string> = new Set(["unspecified", "loopback", "linkLocal", "multicast", "broadcast"]);

/** Is this an address of one host that others can reach? Private ones are. */
export function isGlobalUnicast(address: string): boolean {
  return isIpAddress(address) && !notGlobal.has(ipaddr.process(address).range());
}
