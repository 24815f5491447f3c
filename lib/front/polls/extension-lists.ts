import { isRecord, textOf } from "../../base/classifier.ts";
import { buildOfExtensions, type ProxyBuild, shortLists } from "../../base/proxy-build.ts";

/**
 * Lists of extensions, as JSON, that came whole and were read. Every Envoy of a build sends the same 60 to 77 KB with every poll:
 * to see that they are the same takes a hundredth of reading them.
 */
export interface ExtensionLists {
  /** The list that starts at a place of a text; undefined for one that is not known. */
  listAt(text: string, from: number): KnownList | undefined;
  /** The same in the bytes of a text that lies in pieces; nothing of them is decoded. @param from in the first of them */
  bytesAt(parts: readonly Buffer[], from: number): KnownList | undefined;
  /** @param list as it stood in a text that was read to its end without an error */
  keep(list: string): void;
}

export interface KnownList {
  /** In what it was looked for in, brackets included. */
  readonly length: number;
  /** A list that says as much to whoever reads it. */
  readonly short: string;
}

/** Whose build of Envoy has the extensions of a list; undefined for what is none. */
export function buildOfList(list: unknown): ProxyBuild | undefined {
  if (!Array.isArray(list)) return undefined;
  return buildOfExtensions(list.map((one: unknown) => (isRecord(one) ? textOf(one.name) : "")));
}

/** The text of a list, which has been read before. */
function shortOf(list: string): string {
  const build = buildOfList(JSON.parse(list));
  return build === undefined ? "[]" : shortLists[build];
}

interface Kept {
  readonly bytes: Buffer;
  readonly short: string;
}

export const noExtensionLists: ExtensionLists = {
  listAt: () => undefined,
  bytesAt: () => undefined,
  keep: () => {},
};

/** Shorter ones are read as quickly. */
const leastLength = 1_000;
/** As a text, and as bytes. */
const bytesPerCharacter = 2;

/** @param maxBytes of all lists together; the one that was met longest ago goes first */
export function createExtensionLists(maxBytes: number): ExtensionLists {
  /** Text to bytes; the one met last comes last. */
  const lists = new Map<string, Kept>();
  let total = 0;
  const sizeOf = (list: string) => bytesPerCharacter * list.length;
  function meet(list: string, kept: Kept): void {
    lists.delete(list);
    lists.set(list, kept);
  }
  return {
    listAt(text, from) {
      for (const [list, kept] of lists) {
        if (text.slice(from, from + list.length) !== list) continue;
        meet(list, kept);
        return { length: list.length, short: kept.short };
      }
      return undefined;
    },
    bytesAt(parts, from) {
      for (const [list, kept] of lists) {
        if (!isAt(parts, from, kept.bytes)) continue;
        if (lists.size > 1) meet(list, kept);
        return { length: kept.bytes.length, short: kept.short };
      }
      return undefined;
    },
    keep(list) {
      if (list.length < leastLength || sizeOf(list) > maxBytes / 4 || lists.has(list)) return;
      // A text of its own: a part of a text keeps all of that in memory.
      const bytes = Buffer.from(list);
      lists.set(bytes.toString(), { bytes, short: shortOf(list) });
      total += sizeOf(list);
      for (const oldest of lists.keys()) {
        if (total <= maxBytes) return;
        lists.delete(oldest);
        total -= sizeOf(oldest);
      }
    },
  };
}

/** Whether bytes stand at a place of the first of some pieces, and go on in those behind it. */
function isAt(parts: readonly Buffer[], from: number, bytes: Buffer): boolean {
  let start = from;
  let seen = 0;
  for (const part of parts) {
    const end = Math.min(part.length, start + bytes.length - seen);
    const seenEnd = seen + end - start;
    if (part.compare(bytes, seen, seenEnd, start, end) !== 0) return false;
    seen = seenEnd;
    start = 0;
  }
  return seen === bytes.length;
}
