/**
 * Free texts: what somebody says of an act, for people. They go into HEAD and into the history, which fronts, consoles and command lines read
 * again and again, so each has a bound in bytes: doors refuse longer ones, and what is written all the same is cut.
 */
export const maxFreeTextBytes = {
  /** Who has acted. */
  by: 512,
  /** The reason given. */
  why: 2_048,
} as const;

const ellipsis = "…";
const ellipsisBytes = 3;

/** A text of at most so many bytes in UTF-8; one that is cut ends with `…`. The work follows the bound, not the text. */
export function cutText(text: string, maxBytes: number): string {
  if (isWithin(text, maxBytes)) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes - ellipsisBytes));
  return text.slice(0, read) + ellipsis;
}

/** Whether a text has at most so many bytes in UTF-8. The work follows the bound, not the text. */
export function isWithin(text: string, maxBytes: number): boolean {
  // A UTF-16 unit is at least one byte, and at most three.
  if (text.length * 3 <= maxBytes) return true;
  return text.length <= maxBytes && new TextEncoder().encode(text).length <= maxBytes;
}

/** Who and why, cut to their bounds. */
export function cutWords<T extends { readonly by?: string; readonly why?: string }>(words: T): T {
  const { by, why } = words;
  return {
    ...words,
    ...(by === undefined ? {} : { by: cutText(by, maxFreeTextBytes.by) }),
    ...(why === undefined ? {} : { why: cutText(why, maxFreeTextBytes.why) }),
  };
}
