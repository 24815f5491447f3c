/**
 * Lists of extensions, as JSON, that came whole and were read. Every Envoy of a build sends the same 60 to 77 KB with every poll:
 * to see that they are the same takes a hundredth of reading them.
 */
export interface ExtensionLists {
  /** Length of the list that starts at a place of a text, brackets included; undefined for one that is not known. */
  lengthAt(text: string, from: number): number | undefined;
  /** @param list as it stood in a text that was read to its end without an error */
  keep(list: string): void;
}

export const noExtensionLists: ExtensionLists = { lengthAt: () => undefined, keep: () => {} };

/** Shorter ones are read as quickly. */
const leastLength = 1_000;
const bytesPerCharacter = 2;

/** @param maxBytes of all lists together; the one that was met longest ago goes first */
export function createExtensionLists(maxBytes: number): ExtensionLists {
  /** The one met last comes last. */
  const lists = new Set<string>();
  let bytes = 0;
  const sizeOf = (list: string) => bytesPerCharacter * list.length;
  return {
    lengthAt(text, from) {
      for (const list of lists) {
        if (text.slice(from, from + list.length) !== list) continue;
        lists.delete(list);
        lists.add(list);
        return list.length;
      }
      return undefined;
    },
    keep(list) {
      if (list.length < leastLength || sizeOf(list) > maxBytes / 4 || lists.has(list)) return;
      // A text of its own: a part of a text keeps all of that in memory.
      lists.add(new TextDecoder().decode(new TextEncoder().encode(list)));
      bytes += sizeOf(list);
      for (const oldest of lists) {
        if (bytes <= maxBytes) return;
        lists.delete(oldest);
        bytes -= sizeOf(oldest);
      }
    },
  };
}
