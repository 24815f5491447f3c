import { hash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { link, mkdir, readdir, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, isFileAbsent } from "../../base/cause-text.ts";
import { byCodePoint, PortolanError } from "../../base/diagnostic.ts";
import { inParallel } from "../in-parallel.ts";
import { mapErrors } from "../map-errors.ts";
import {
  checkKey,
  type GetResult,
  type ListedObject,
  type ObjectStore,
  type PutResult,
  type Together,
} from "../object-store.ts";
import { layReserve } from "../reserve.ts";
import { readWithTime, timeOfNew, writeNew } from "./file-calls.ts";
import { absentAs, noObjectAs, refuseFileThere, takenAsFalse, thereAlready } from "./file-errors.ts";
import { foldersWithObjects, isFolder, isShown, removeEmpty } from "./file-folders.ts";
import { createFolderKeeper } from "./kept-folders.ts";
import { makeFolders } from "./make-folders.ts";
import { watchPath } from "./watch-path.ts";

/**
 * A store in a folder of a local file system, safe for several processes at once and for a process killed at any point.
 *
 * An object is a file under its key. The first write of a key links a complete temporary file into place, which fails when
 * the name is taken, so creating is atomic without a lock. Each later write links its file as the next number into the
 * folder `<key>#`; whoever is first to take number n+1 has replaced version n, and the highest number is the object. There
 * is no lock that a dead process could leave behind.
 *
 * @param directory created when missing, unless it is to be there; must be on one file system that has hard links
 * @param options.durable false leaves out fsync: for throw-away stores only
 * @param options.isThere the store is somebody else's: where its folder is not there, what is put is refused
 */
export function fileStore(
  directory: string,
  { durable = true, isThere = false }: { readonly durable?: boolean; readonly isThere?: boolean } = {},
): ObjectStore {
  const temporary = join(directory, ".tmp");
  const reserve = join(directory, ".reserve");
  const folders = createFolderKeeper(directory, durable);
  const pathOf = (key: string) => join(directory, checkKey(key));
  let swept: Promise<void> | undefined;
  /** Folders whose names are to be kept, by what was put into them together. */
  const touched = new WeakMap<Together, Set<string>>();

  /** Puts complete bytes under `path` unless that name is taken. A name that is found was perhaps not kept yet by whoever put it there. */
  async function linkNew(path: string, bytes: Uint8Array, keep = keepNames): Promise<boolean> {
    swept ??= sweepTemporary(temporary, isThere);
    await swept;
    const draft = join(temporary, randomUUID());
    const folder = dirname(path);
    let kept: Promise<void> | undefined;
    try {
      await writeDraft(draft, bytes);
      const isNew = await linkFree(folder, draft, path);
      kept = keep(folder);
      return isNew;
    } finally {
      await Promise.all([kept, unlink(draft).catch(absentAs(undefined))]);
    }
  }

  async function writeDraft(draft: string, bytes: Uint8Array): Promise<void> {
    await writeNew(draft, bytes, durable).catch(async (cause: unknown) => {
      if (!isFileAbsent(cause)) throw cause;
      // A store that was put back from a copy has no drafts. One that is not there at all is not begun anew in its place.
      await mkdir(temporary).catch(thereAlready);
      await writeNew(draft, bytes, durable);
    });
  }

  /**
   * @returns false where an object has the name
   * @throws PortolanError where a folder of objects has it, which no object can be put in the place of
   */
  async function linkFree(folder: string, draft: string, path: string): Promise<boolean> {
    const linked = await linkInto(folder, draft, path).then(() => true, takenAsFalse);
    if (linked || !(await isFolder(path))) return linked;
    await removeEmpty(path);
    if (await isFolder(path))
      throw new PortolanError(
        `file store ${directory}: ${path} cannot be an object: it is a folder with objects in it; delete these first`,
      );
    return linkInto(folder, draft, path).then(() => true, takenAsFalse);
  }

  /**
   * Folders that are left empty are taken away, perhaps in the moment that one was made anew.
   *
   * @throws where a folder of versions is not there, with which whoever deletes an object takes it away
   */
  async function linkInto(folder: string, draft: string, path: string): Promise<void> {
    await folders.make(folder).catch(refuseFileThere(directory, folder));
    for (let left = folder.endsWith("#") ? 0 : mostMadeAgain; ; left -= 1) {
      try {
        return await link(draft, path);
      } catch (cause) {
        if (!isFileAbsent(cause)) throw cause;
        await folders.makeAgain(folder).catch(refuseFileThere(directory, folder));
        if (left === 0) throw cause;
      }
    }
  }

  /** An object that was deleted since has no folder of versions whose names are to be kept. */
  const keepNames = (folder: string): Promise<void> =>
    folders.keep(folder).catch((cause: unknown) => {
      if (!isFileAbsent(cause) || !folder.endsWith("#")) throw cause;
    });

  /** What is put together has its folders written once, at its end. */
  const keepLater =
    (folders: Set<string>) =>
    async (folder: string): Promise<void> => {
      folders.add(folder);
    };

  async function replace(
    key: string,
    path: string,
    bytes: Uint8Array,
    ifMatch: string | undefined,
  ): Promise<PutResult> {
    for (;;) {
      const current = await currentVersion(path);
      if (current === undefined) {
        if (ifMatch !== undefined) return { kind: "lost" };
        if (await linkNew(path, bytes)) return storedAs(0, bytes);
        continue;
      }
      if (ifMatch !== undefined && ifMatch !== etagOf(current.number, current.bytes)) return { kind: "lost" };
      const next = current.number + 1;
      const linked = await linkNew(join(`${path}#`, String(next)), bytes).catch(absentAs(undefined));
      // The object was deleted since it was looked at: what is there now decides.
      if (linked === undefined) continue;
      if (linked) {
        await forgetOldVersions(key, `${path}#`, next);
        // Only a store in use changes an object: one that is a copy needs no reserve.
        if (durable) await layReserve(reserve);
        return storedAs(next, bytes);
      }
      if (ifMatch !== undefined) return { kind: "lost" };
    }
  }

  const fail = failOf(directory);
  const store: ObjectStore = {
    async get(key, condition = {}) {
      const current = await currentVersion(pathOf(key));
      if (current === undefined) return { kind: "absent" };
      const { ifNoneMatch } = condition;
      if (ifNoneMatch !== undefined && ifNoneMatch === etagOf(current.number, current.bytes))
        return { kind: "unchanged" };
      return foundAs(current);
    },
    async put(key, bytes, condition = {}) {
      const path = pathOf(key);
      if (condition.ifNoneMatch !== "*") return replace(key, path, bytes, condition.ifMatch);
      const { together } = condition;
      const folders = together && touched.get(together);
      const isNew = await linkNew(path, bytes, folders && keepLater(folders));
      return isNew ? storedAs(0, bytes) : { kind: "lost" };
    },
    together() {
      const folders = new Set<string>();
      const together: Together = {
        async kept() {
          await inParallel(folders, keepNames).catch(fail);
        },
      };
      touched.set(together, folders);
      return together;
    },
    list: (prefix, after = "") => listUnder(directory, "", prefix, after),
    folders: (prefix) => foldersWithObjects(join(directory, prefix)),
    async delete(key) {
      const path = pathOf(key);
      await rm(path, { force: true }).catch(noObjectAs(undefined));
      // Whoever writes it meanwhile may put a version into the folder that is being taken away.
      const versions = rm(`${path}#`, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 });
      await versions.catch(noObjectAs(undefined));
    },
    watch(key, onChange) {
      return watchPath(pathOf(key), onChange);
    },
    time: () => timeOf(temporary),
    makeRoom: () => rm(reserve, { force: true }).catch(fail),
  };
  return mapErrors(store, fail);
}

/** How often a folder may be taken away while one thing is put into it. */
const mostMadeAgain = 10;

/** What the file system's clock shows: the time of a file that is written now. A disk that takes none tells nothing, and one that nobody has written to. */
async function timeOf(temporary: string): Promise<number | undefined> {
  const probe = join(temporary, randomUUID());
  try {
    return await timeOfNew(probe);
  } catch {
    return undefined;
  }
}

interface Version {
  readonly number: number;
  readonly modifiedMs: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const etagOf = (number: number, bytes: Uint8Array): string => `${number}-${hash("sha256", bytes).slice(0, 16)}`;

/** A tag is worked out for those who ask for it: of the thousands of blobs of a compile nobody does. */
const storedAs = (number: number, bytes: Uint8Array): PutResult => ({
  kind: "stored",
  get etag() {
    return etagOf(number, bytes);
  },
});

const foundAs = ({ number, bytes, modifiedMs }: Version): GetResult => ({
  kind: "found",
  bytes,
  modifiedMs,
  get etag() {
    return etagOf(number, bytes);
  },
});

/** Listed at once: these few names never wait for a disk, and a way to another thread and back would cost more. */
function versionNumbers(folder: string): readonly number[] {
  const names = existsSync(folder) ? namesIn(folder) : [];
  // Backups, drafts of editors and what network file systems leave behind are no versions.
  const numbers = names.filter((name) => /^[1-9]\d{0,14}$/.test(name)).map(Number);
  return numbers.sort((a, b) => a - b);
}

/** A folder may be taken away while it is looked into. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    return absentAs([])(cause);
  }
}

async function currentVersion(path: string): Promise<Version | undefined> {
  let lookedFor: number | undefined;
  for (;;) {
    const highest = versionNumbers(`${path}#`).at(-1);
    const file = highest === undefined ? path : join(`${path}#`, String(highest));
    const read = await readWithTime(file).catch(noObjectAs(undefined));
    if (read !== undefined) return { number: highest ?? 0, ...read };
    // A version that was there a moment ago has been replaced and forgotten, or the object deleted: look again.
    if (highest === undefined) return undefined;
    if (highest === lookedFor) throw new PortolanError(`${file} is listed, and cannot be read`);
    lookedFor = highest;
  }
}

/**
 * Old numbers stay for a while, so that a writer that fell asleep between looking and linking still finds its number taken.
 */
const keptVersions = 64;
const keptMs = 60_000;

async function forgetOldVersions(key: string, folder: string, written: number): Promise<void> {
  const numbers = versionNumbers(folder);
  const highest = numbers.at(-1) ?? written;
  if (highest - written >= keptVersions) {
    // So much later than the others that its own predecessor is forgotten: it cannot have replaced anything.
    await rm(join(folder, String(written)), { force: true });
    throw new PortolanError(`${key}: the write came too late to say whether it replaced anything`);
  }
  const old = numbers.filter((number) => number <= highest - keptVersions);
  for (const number of old) {
    const path = join(folder, String(number));
    const info = await stat(path).catch(absentAs(undefined));
    if (info === undefined) continue;
    // Those that follow were written later.
    if (Date.now() - info.mtimeMs <= keptMs) return;
    await rm(path, { force: true });
  }
}

async function* listUnder(
  directory: string,
  folder: string,
  prefix: string,
  after: string,
): AsyncGenerator<ListedObject> {
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(absentAs([]));
  // Most objects were written once, and have no folder of versions to look into.
  const versioned = new Set(entries.filter((entry) => entry.name.endsWith("#")).map((entry) => entry.name));
  const shown = entries
    .filter((entry) => isShown(entry.name))
    // A folder's keys continue with "/", which decides its place among names like "a-b".
    .map((entry) => ({ entry, key: folder + entry.name + (entry.isDirectory() ? "/" : "") }))
    .filter(({ key }) => key.startsWith(prefix) || (key.endsWith("/") && prefix.startsWith(key)))
    // A folder that the text is in may hold keys that come after it.
    .filter(({ key }) => key > after || (key.endsWith("/") && after.startsWith(key)))
    .sort((a, b) => byCodePoint(a.key, b.key));
  const newestOf = (name: string, path: string): string => {
    const highest = versioned.has(`${name}#`) ? versionNumbers(`${path}#`).at(-1) : undefined;
    return highest === undefined ? path : join(`${path}#`, String(highest));
  };
  for (const { entry, key } of shown) {
    if (entry.isDirectory()) {
      yield* listUnder(directory, key, prefix, after);
      continue;
    }
    // At once: of a folder that was just read the file system has at hand what its entries are, and a way to another thread and back
    // would cost ten times as much. A mesh of a thousand services lies in five thousand files.
    const info = statSync(newestOf(entry.name, join(directory, key)), { throwIfNoEntry: false });
    if (info !== undefined) yield { key, sizeBytes: info.size, modifiedMs: info.mtimeMs };
  }
}

/** Removes drafts that a killed process left behind. */
async function sweepTemporary(temporary: string, isThere: boolean): Promise<void> {
  if (!isThere) await makeFolders(temporary);
  for (const name of await readdir(temporary).catch(absentAs([]))) {
    const path = join(temporary, name);
    const info = await stat(path).catch(absentAs(undefined));
    if (info !== undefined && Date.now() - info.mtimeMs > 3_600_000) await rm(path, { force: true });
  }
}

/** Says which store failed; the system's own message follows as the cause. */
const failOf =
  (directory: string) =>
  (cause: unknown): never => {
    if (cause instanceof PortolanError) throw cause;
    throw new PortolanError(`file store ${directory}: ${String(cause)}${remedyFor(cause)}`, [], cause);
  };

/** A disk, or what a user may have of it, that is full. */
const remedyFor = (cause: unknown): string =>
  ["ENOSPC", "EDQUOT"].includes(String(codeOf(cause))) ? "; `portolan gc` makes room; or enlarge the disk" : "";
