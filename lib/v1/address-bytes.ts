import ipaddr from "ipaddr.js";

/** An address as Mixer takes it: base64 of its 16 bytes, IPv4 in its mapped form; "" for a text that is no address. */
export function addressBytes(address: string): string {
  if (!ipaddr.isValid(address)) return "";
  const parsed = ipaddr.parse(address);
  const bytes = parsed instanceof ipaddr.IPv4 ? parsed.toIPv4MappedAddress().toByteArray() : parsed.toByteArray();
  return Buffer.from(bytes).toString("base64");
}
