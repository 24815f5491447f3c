import { hasLeftOutDocument } from "../documents/left-out-document.ts";
import { type FilesByName, isUnreadable, isWhole, type KeptText } from "./folder-state.ts";

/** An object that is looked for: its key, and the file in which it stood. */
export type Sought = Pick<KeptText, "key" | "file">;

/** Tells of a file whether nobody can read it, and whether it may hold an object that stood elsewhere. */
export type MayHold = (file: string, sought: Sought) => boolean;

/** @param files of which each text is searched as often as it is asked for, and unescaped once */
export function createMayHold(files: FilesByName): MayHold {
  const texts = new Map<string, string>();
  function textOf(file: string, text: string): string {
    const known = texts.get(file) ?? unescaped(text);
    texts.set(file, known);
    return known;
  }
  return (file, { key, file: stood }) => {
    const state = files.get(file);
    // Settings, and objects of other clusters, are no object's other place.
    if (state === undefined || isWhole(file) || !isUnreadable(state)) return false;
    // Of a file that cannot be opened nothing is known but that it may be another one, renamed.
    if (state.problem !== undefined) return !files.has(stood);
    if (hasLeftOutDocument(state.text)) return true;
    const text = textOf(file, state.text);
    return isNamed(text, kindIn({ key })) && isNamed(text, nameIn({ key }));
  };
}

const kindIn = ({ key }: Pick<KeptText, "key">): string => key.split(/[./]/, 1)[0] ?? "";

/** Name of the object: what a text that cannot be read is searched for. */
export const nameIn = ({ key }: Pick<KeptText, "key">): string => key.slice(key.lastIndexOf("/") + 1);

/** A text with the characters that JSON and YAML may write as escapes; names and kinds have none beyond ASCII. */
export const unescaped = (text: string): string =>
  text.replace(/\\(?:x|u00|U000000)([\da-fA-F]{2})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));

/** Whether a text has a name that is not a part of another one. */
function isNamed(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!/[\w-]/.test(text[at - 1] ?? "") && !/[\w-]/.test(text[at + name.length] ?? "")) return true;
  }
  return false;
}
