import ipaddr from "ipaddr.js";

const fourNumbers = /^\d+\.\d+\.\d+\.\d+$/;

/** Is the text an IPv4 or IPv6 address (four decimal parts, no zone, no prefix length)? */
export function isIpAddress(text: string): boolean {
  // The library answers "no" by throwing inside, which costs too much for host names.
  return fourNumbers.test(text)
    ? ipaddr.IPv4.isValidFourPartDecimal(text)
    : text.includes(":") && ipaddr.IPv6.isValid(text);
}

export function ipFamily(address: string): "IPv4" | "IPv6" {
  return address.includes(":") ? "IPv6" : "IPv4";
}

/** Which families a list of addresses has. */
export function ipMode(addresses: readonly string[]): "IPv4" | "IPv6" | "dual" {
  const v6 = addresses.some((address) => ipFamily(address) === "IPv6");
  const v4 = addresses.some((address) => ipFamily(address) === "IPv4");
  return v4 && v6 ? "dual" : v6 ? "IPv6" : "IPv4";
}

/** An address, or an address and a number of bits: `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return isIpAddress(text);
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  return isIpAddress(address) && /^\d{1,3}$/.test(bits) && Number(bits) <= (address.includes(":") ? 128 : 32);
}
