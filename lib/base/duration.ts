const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const whole = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g;
const maxNanos = 2n ** 63n - 1n;

/**
 * Reads a duration as Go writes them (`5s`, `1m30s`, `0.25h`, `100ms`), which Istio's decoder accepts beside proto JSON's form.
 *
 * @returns nanoseconds, or undefined for any other text and for more than 64 bits
 */
export function parseDuration(text: string): bigint | undefined {
  if (text === "0") return 0n;
  if (text.length > 64 || !whole.test(text)) return undefined;
  let nanos = 0n;
  for (const [, integer = "", fraction = "", unit = ""] of text.matchAll(part)) {
    const scale = unitNanos[unit] ?? 0n;
    nanos += BigInt(integer === "" ? "0" : integer) * scale;
    if (fraction !== "") nanos += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  if (nanos > maxNanos) return undefined;
  return text.startsWith("-") ? -nanos : nanos;
}

/** Proto JSON: seconds with 0, 3, 6 or 9 decimals, `5s`, `0.100s`, `1.000250s`. */
export function formatDuration(nanos: bigint): string {
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  const seconds = size / 1_000_000_000n;
  const rest = size % 1_000_000_000n;
  if (rest === 0n) return `${sign}${seconds}s`;
  const digits = rest.toString().padStart(9, "0");
  const decimals = digits.endsWith("000000") ? 3 : digits.endsWith("000") ? 6 : 9;
  return `${sign}${seconds}.${digits.slice(0, decimals)}s`;
}

/** Milliseconds, with fractions, of a canonical duration; 0 for any other text. */
export function durationMs(text: string): number {
  const nanos = parseDuration(text);
  return nanos === undefined ? 0 : Number(nanos) / 1e6;
}
