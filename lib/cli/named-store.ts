import { readdir, stat } from "node:fs/promises";
import { InvalidArgumentError, Option } from "commander";
import { causeText } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { openStore } from "../storage/open-store.ts";
import { isFolder, readStoreLocation, storeForms } from "../storage/store-location.ts";
import { whereAbsent } from "./absent-file.ts";
import { devStoreText, meantStore, readDevStore } from "./dev-stores.ts";
import { textIfThere } from "./named-file.ts";
import { noProgress, type Progress } from "./progress.ts";

/** Folder of this working directory's own settings and stores. */
const ownFolder = ".portolan";
const settingsFile = `${ownFolder}/settings.json`;

/** The store of whoever names none. */
const defaultStore = `${ownFolder}/store`;

/** Begins the name of a store that `portolan dev` made for a folder. */
export const devStorePrefix = `${ownFolder}/dev-`;

/**
 * The option that names a store, the same for every command; `namedStore` says what counts when it is not given.
 *
 * @param more what else it may be
 * @param otherwise what counts where nobody has said
 */
export function storeOption(more = "", otherwise = defaultStore): Option {
  return storeInstead(`${storeForms()}${more} (default: ${settingsFile}, else ${otherwise})`);
}

/** The same where a command without it reads no store. */
export const storeInstead = (text: string): Option => new Option("--store <where>", text).env("PORTOLAN_STORE");

/**
 * The store that a person means: `--store`, else `PORTOLAN_STORE` (commander has put either into the option), else what
 * `.portolan/settings.json` says.
 *
 * @returns undefined when nobody has said
 * @throws PortolanError for settings that cannot be read
 */
export async function namedStore(option: string | undefined): Promise<string | undefined> {
  if (option !== undefined && option !== "") return option;
  // The default store in place of one that the settings name may be the wrong one.
  const text = await textIfThere(settingsFile, "make it readable, or name the store with --store");
  if (text === undefined) return undefined;
  const store = storeOfSettings(text);
  if (store === undefined)
    throw new PortolanError(
      `${settingsFile} cannot be read: it holds {"store": "mesh-store"}, or another store that --store takes`,
    );
  return store;
}

function storeOfSettings(text: string): string | undefined {
  try {
    const { store, ...others }: Readonly<Record<string, unknown>> = JSON.parse(text);
    return typeof store === "string" && store !== "" && Object.keys(others).length === 0 ? store : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A store that is written to; a folder is made by the first write.
 *
 * @throws PortolanError for a place that can hold none
 */
export async function openToWrite(option: string | undefined, progress: Progress = noProgress): Promise<ObjectStore> {
  return progress.counting(await openTarget((await namedStore(option)) ?? defaultStore));
}

/**
 * A store that is there already. Where nobody has said which and there is no default one, a single store of `portolan dev` is it; of
 * several the one that is being served, else that of the working directory.
 *
 * @throws PortolanError when it is not there, with those that are
 */
export const openThere = async (option: string | undefined, progress: Progress = noProgress): Promise<ObjectStore> =>
  (await openPlaceThere(option, progress)).store;

/** The same, with the place that it was found at. */
export async function openPlaceThere(
  option: string | undefined,
  progress: Progress = noProgress,
): Promise<{ readonly store: ObjectStore; readonly where: string }> {
  const say = (line: string) => {
    progress.speaks();
    // Beside what a program reads.
    process.stderr.write(`${line}\n`);
  };
  const where = await placeThere(option, say);
  return { store: progress.counting(await openTarget(where)), where };
}

/** The same, as a name. @param say told of the one that is taken, of several */
export async function placeThere(option: string | undefined, say: (line: string) => void = () => {}): Promise<string> {
  const named = await namedStore(option);
  const where = named ?? defaultStore;
  checkPlace(where);
  if (!isFolder(where) || (await holdsSomething(where))) return where;
  const found = await storesHere();
  const [only] = found;
  // The default one is not among them, or it would have been it.
  if (named === undefined && only !== undefined && found.length === 1) return only;
  const stores = await Promise.all(found.map(readDevStore));
  const meant = named === undefined ? meantStore(stores, process.cwd()) : undefined;
  if (meant !== undefined) {
    say(`store ${devStoreText(meant)}, of ${stores.length}; --store names another`);
    return meant.path;
  }
  const hint =
    found.length === 0
      ? "`portolan push FOLDER` and `portolan dev` make one"
      : `there are: ${stores.map(devStoreText).join(", ")}; name one with --store`;
  throw new PortolanError(`there is no store at ${where}; ${hint}`);
}

/** The store at a place, whether there is one or not. @throws PortolanError for a place that can hold none */
export async function openTarget(where: string): Promise<ObjectStore> {
  checkPlace(where);
  if (isFolder(where) && (await stat(where).catch(() => undefined))?.isFile() === true)
    throw new PortolanError(`${where} is a file, and a store is a folder`);
  return openStore(where, { s3Endpoint: process.env.PORTOLAN_S3_ENDPOINT });
}

/** @throws InvalidArgumentError for a name that no store has */
function checkPlace(where: string): void {
  try {
    readStoreLocation(where);
  } catch (cause) {
    throw new InvalidArgumentError(causeText(cause));
  }
}

/** Whether a folder is there and holds anything but hidden files. @throws PortolanError where it exists and cannot be read */
export async function holdsSomething(folder: string): Promise<boolean> {
  const names = await namesIn(folder);
  return names.some((name) => !name.startsWith("."));
}

/** The stores of this working directory that hold something, the default one and those of `portolan dev`. */
async function storesHere(): Promise<readonly string[]> {
  const names = await namesIn(ownFolder);
  const paths = names.map((name) => `${ownFolder}/${name}`).sort();
  const found: string[] = [];
  for (const path of paths) {
    const isStore = path === defaultStore || path.startsWith(devStorePrefix);
    if (isStore && (await holdsSomething(path))) found.push(path);
  }
  return found;
}

/** Names in a folder; none where it does not exist, or is a file. */
const namesIn = (folder: string): Promise<readonly string[]> =>
  readdir(folder).catch(whereAbsent(`the folder ${folder}`, []));
