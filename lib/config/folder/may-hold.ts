import { hasLeftOutDocument } from "../documents/left-out-document.ts";
import { type FilesByName, isUnreadable, isWhole, type KeptText } from "./folder-state.ts";

/** An object that is looked for: its key, and the file in which it stood. */
export type Sought = Pick<KeptText, "key" | "file">;

/** Tells of a file whether nobody can read it, and whether it may hold an object that stood elsewhere. */
export type MayHold = (file: string, sought: Sought) => boolean;

/** @param files of which each text is gone through once, however many objects are looked for in it */
export function createMayHold(files: FilesByName): MayHold {
  const indexes = new Map<string, WordIndex>();
  function indexOf(file: string, text: string): WordIndex {
    const known = indexes.get(file) ?? indexWords(unescaped(text));
    indexes.set(file, known);
    return known;
  }
  return (file, { key, file: stood }) => {
    const state = files.get(file);
    // Settings, and objects of other clusters, are no object's other place.
    if (state === undefined || isWhole(file) || !isUnreadable(state)) return false;
    // Of a file that cannot be opened nothing is known but that it may be another one, renamed.
    if (state.problem !== undefined) return !files.has(stood);
    if (hasLeftOutDocument(state.text)) return true;
    const index = indexOf(file, state.text);
    return isNamed(index, kindIn({ key })) && isNamed(index, nameIn({ key }));
  };
}

const kindIn = ({ key }: Pick<KeptText, "key">): string => key.split(/[./]/, 1)[0] ?? "";

/** Name of the object: what a text that cannot be read is searched for. */
export const nameIn = ({ key }: Pick<KeptText, "key">): string => key.slice(key.lastIndexOf("/") + 1);

/** A text with the characters that JSON and YAML may write as escapes; names and kinds have none beyond ASCII. */
export const unescaped = (text: string): string =>
  text.replace(/\\(?:x|u00|U000000)([\da-fA-F]{2})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));

/** The words of a text, and where each begins. */
interface WordIndex {
  readonly text: string;
  readonly places: ReadonlyMap<string, readonly number[]>;
}

/** A name with dots is looked for at so many places; a text that has its first word more often may hold it. */
const maxPlaces = 1_000;

function indexWords(text: string): WordIndex {
  const places = new Map<string, number[]>();
  for (const { 0: word, index } of text.matchAll(/[\w-]+/g)) {
    const known = places.get(word);
    if (known === undefined) places.set(word, [index]);
    else if (known.length <= maxPlaces) known.push(index);
  }
  return { text, places };
}

/** Whether a text has a name that is not a part of another one. */
function isNamed({ text, places }: WordIndex, name: string): boolean {
  const [first = ""] = /^[\w-]*/.exec(name) ?? [];
  // A name that begins with no word is none of an object: nothing can be said of it.
  if (first === "") return text.includes(name);
  const found = places.get(first) ?? [];
  if (first === name || found.length > maxPlaces) return found.length > 0;
  return found.some((at) => text.startsWith(name, at) && !/[\w-]/.test(text[at + name.length] ?? ""));
}
