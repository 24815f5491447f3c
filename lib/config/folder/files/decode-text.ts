/** What a file holds: its text, or why it is none. */
export type Decoded = { readonly text: string } | { readonly problem: string };

/** So many bytes are looked at to guess an encoding. */
const sampleBytes = 4_096;

/** Of these bytes more than so many in ten are zero where a text is UTF-16, or UTF-32. */
const zerosInTen = 3;

/**
 * Reads a text: UTF-8, or UTF-16 that begins with its byte order mark, as Windows' editors write it. What is neither is not guessed at: a
 * text of which some letters are wrong would be configuration that nobody has written.
 */
export function decodeText(bytes: Uint8Array): Decoded {
  const [first, second, third, fourth] = bytes;
  if (first === 0xff && second === 0xfe && third === 0 && fourth === 0)
    return { problem: `byte 0: it is UTF-32; ${asUtf8("UTF-32")}` };
  if (first === 0xff && second === 0xfe) return fromUtf16("utf-16le", bytes);
  if (first === 0xfe && second === 0xff) return fromUtf16("utf-16be", bytes);
  const zero = bytes.indexOf(0);
  if (zero !== -1) return { problem: withZeros(bytes, zero) };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    const at = firstInvalid(bytes);
    const found = `byte ${at} (0x${(bytes[at] ?? 0).toString(16).padStart(2, "0")}) is not UTF-8`;
    return { problem: `${found}: it may be Latin-1 or Windows-1252; ${asUtf8("WINDOWS-1252")}` };
  }
}

function fromUtf16(encoding: "utf-16le" | "utf-16be", bytes: Uint8Array): Decoded {
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes) };
  } catch {
    return { problem: `byte 0 means ${encoding.toUpperCase()}, and what follows is not that; ${asUtf8("UTF-16")}` };
  }
}

/** Of bytes with a zero, which no text in UTF-8 has. */
function withZeros(bytes: Uint8Array, zero: number): string {
  const sample = bytes.subarray(0, sampleBytes);
  const zerosAt = (offset: number) => sample.filter((byte, i) => i % 2 === offset && byte === 0).length;
  const [even, odd] = [zerosAt(0), zerosAt(1)];
  const most = Math.max(even, odd);
  const isUtf16 = 10 * most > zerosInTen * sample.length && 10 * Math.min(even, odd) < most;
  if (!isUtf16)
    return `byte ${zero} is 0: the file is binary, not YAML or JSON; remove it from the folder, or change its file name extension`;
  const encoding = odd > even ? "UTF-16LE" : "UTF-16BE";
  return `byte ${zero} is 0: it looks like ${encoding} without a byte order mark; ${asUtf8(encoding)}`;
}

const asUtf8 = (encoding: string): string =>
  `save it as UTF-8, such as with \`iconv -f ${encoding} -t UTF-8 FILE > NEW\``;

/** Where the first sequence begins that is not UTF-8. */
function firstInvalid(bytes: Uint8Array): number {
  let [low, high] = [0, bytes.length];
  // As long as what is invalid has not begun, a prefix is good but for a sequence that its end cuts.
  const isGood = (length: number): boolean => {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isGood(middle)) low = middle;
    else high = middle - 1;
  }
  // What is cut off by the end of the text is invalid from its first byte on.
  if (low < bytes.length) return low;
  let last = bytes.length - 1;
  while (last > 0 && ((bytes[last] ?? 0) & 0xc0) === 0x80) last -= 1;
  return last;
}
