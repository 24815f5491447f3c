import { keyText, PortolanError } from "../../base/diagnostic.ts";
import { locationsOf } from "../../compile/source-locations.ts";
import { type Config, keyOf } from "../../config/config.ts";
import { newestRoot, readHead } from "../../snapshot/head/head.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Terminal } from "../terminal.ts";
import { nameOf } from "./config-print.ts";

/** More are counted. */
const maxNamed = 10;

/** Whether a place, `catalog.yaml:97`, is in a file of a folder, and not in what these commands have written: `operators/applied:…`. */
const isInFolder = (at: string): boolean => /:\d+$/.test(at) && !/^(?:[^:]*\/)?applied:/.test(at);

/** Says at once which of the objects that are about to be written stand in a folder of the store, too: of two with one key one counts. */
export async function warnOfFolder(store: ObjectStore, configs: readonly Config[], terminal: Terminal): Promise<void> {
  const twice = await standingInFolders(store, configs).catch((cause: unknown) => {
    // What the store lacks of its past is nothing to keep a write from.
    if (cause instanceof PortolanError) return [];
    throw cause;
  });
  for (const { name, at } of twice.slice(0, maxNamed))
    terminal.err(
      `warning: ${name} is also in a folder that fills this store, at ${at}: edit it there, or remove one of the two`,
    );
  if (twice.length > maxNamed) terminal.err(`warning: and ${twice.length - maxNamed} more`);
}

async function standingInFolders(
  store: ObjectStore,
  configs: readonly Config[],
): Promise<readonly { readonly name: string; readonly at: string }[]> {
  const read = await readHead(store);
  if (read === undefined) return [];
  const { root } = await createSnapshotReader(store).root(newestRoot(read.head));
  const places = await locationsOf(store, root.sources);
  return configs.flatMap((config) => {
    const at = places.get(keyText(keyOf(config))) ?? "";
    return isInFolder(at) ? [{ name: nameOf(config.meta), at }] : [];
  });
}
