/** The stores that `portolan dev` makes in a working directory, of which folder each is, and which is being served. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import { isFields, jsonIn } from "../base/untyped.ts";

/** What `dev` writes beside a store of its own. */
interface Note {
  /** What is followed, for people: a folder, a cluster. */
  readonly what: string;
  /** Absolute path of the folder; absent where none is followed. */
  readonly folder?: string | undefined;
  /** Of the `dev` that serves it, or served it last. */
  readonly pid: number;
}

export interface DevStore {
  readonly path: string;
  /** Absent for one of an earlier version, which wrote nothing beside it. */
  readonly note: Note | undefined;
  readonly isServed: boolean;
}

const notePath = (store: string): string => `${store}.json`;

/** Remembers what a store is of, for as long as this process serves it and after. @returns what to call at the end */
export async function noteDevStore(store: string, of: Pick<Note, "what" | "folder">): Promise<() => Promise<void>> {
  const write = (pid: number) => writeFile(notePath(store), `${JSON.stringify({ ...of, pid })}\n`);
  await mkdir(dirname(store), { recursive: true });
  await write(process.pid);
  return () => write(0);
}

export async function readDevStore(path: string): Promise<DevStore> {
  const json = jsonIn(await readFile(notePath(path), "utf8").catch(() => ""));
  if (!isFields(json) || typeof json.what !== "string" || typeof json.pid !== "number")
    return { path, note: undefined, isServed: false };
  const { what, folder, pid } = json;
  const note = { what, pid, ...(typeof folder === "string" ? { folder } : {}) };
  return { path, note, isServed: isRunning(pid) };
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // It runs, as another user.
    return cause instanceof Error && "code" in cause && cause.code === "EPERM";
  }
}

/**
 * The one of several stores that is meant where nobody says: the only one that is being served, else the only one whose folder is the
 * working directory, or lies around it.
 *
 * @param directory absolute
 */
export function meantStore(stores: readonly DevStore[], directory: string): DevStore | undefined {
  const served = stores.filter(({ isServed }) => isServed);
  const around = (served.length > 1 ? served : stores).filter(
    ({ note }) => note?.folder !== undefined && isWithin(directory, note.folder),
  );
  for (const [only, ...others] of [served, around]) if (only !== undefined && others.length === 0) return only;
  return undefined;
}

function isWithin(directory: string, folder: string): boolean {
  const way = relative(folder, directory);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
}

/** `.portolan/dev-36ec62aa (shop/, being served)`. */
export function devStoreText({ path, note, isServed }: DevStore): string {
  const parts = [...(note === undefined ? [] : [note.what]), ...(isServed ? ["being served"] : [])];
  return parts.length === 0 ? path : `${path} (${parts.join(", ")})`;
}
