import ipaddr from "ipaddr.js";

/** The range that a text names, host bits cleared: `10.1.2.3/8` is `10.0.0.0/8`. undefined for what is no range. */
export function maskedCidr(text: string): string | undefined {
  const [address = "", bits] = text.split("/", 2);
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.parse(address);
  const whole = parsed.kind() === "ipv4" ? 32 : 128;
  const length = bits === undefined ? whole : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > whole) return undefined;
  const bytes = parsed.toByteArray().map((byte, index) => byte & maskOfByte(length - index * 8));
  return `${ipaddr.fromByteArray(bytes).toString()}/${length}`;
}

/** Mask of one byte when so many bits of it and what follows belong to the prefix. */
function maskOfByte(bits: number): number {
  if (bits >= 8) return 0xff;
  return bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff;
}
