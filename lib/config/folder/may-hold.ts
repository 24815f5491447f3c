import { type FolderState, isUnreadable, isWhole, type KeptText } from "./folder-state.ts";

/** An object that is looked for: its key, and the file in which it stood. */
export type Sought = Pick<KeptText, "key" | "file">;

/** Tells of a file whether nobody can read it, and whether it may hold an object that stood elsewhere. */
export type MayHold = (file: string, sought: Sought) => boolean;

export function createMayHold(files: FolderState["files"]): MayHold {
  return (file, { key, file: stood }) => {
    const state = files.get(file);
    // Settings, and objects of other clusters, are no object's other place.
    if (state === undefined || isWhole(file) || !isUnreadable(state)) return false;
    // Of a file that cannot be opened nothing is known but that it may be another one, renamed.
    if (state.problem !== undefined) return !files.has(stood);
    return isNamed(state.text, kindIn({ key })) && isNamed(state.text, nameIn({ key }));
  };
}

const kindIn = ({ key }: Pick<KeptText, "key">): string => key.split(/[./]/, 1)[0] ?? "";

/** Name of the object: what a text that cannot be read is searched for. */
export const nameIn = ({ key }: Pick<KeptText, "key">): string => key.slice(key.lastIndexOf("/") + 1);

/** Whether a text has a name that is not a part of another one. */
function isNamed(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!/[\w-]/.test(text[at - 1] ?? "") && !/[\w-]/.test(text[at + name.length] ?? "")) return true;
  }
  return false;
}
