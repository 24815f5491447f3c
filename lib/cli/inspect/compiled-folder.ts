import { errorsOf, PortolanError } from "../../base/diagnostic.ts";
import { createWorldRecompiler } from "../../compile/recompile.ts";
import { writeShard } from "../../compile/shards/write-shard.ts";
import { readFolder } from "../../config/folder/folder.ts";
import { memoryStore } from "../../storage/memory.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { locatedIn } from "../config/located-messages.ts";
import { counted } from "../numbers.ts";
import { printDiagnostics, type Terminal } from "../terminal.ts";

/**
 * A store in memory that holds what a folder compiles to, published: whatever reads stores reads it.
 *
 * @throws PortolanError where the folder has errors: what is refused would be missing without a word
 */
export async function compiledFolder(folder: string, terminal: Terminal): Promise<ObjectStore> {
  const store = memoryStore();
  const files = await readFolder(folder);
  await writeShard(store, "main", files);
  const { diagnostics } = await createWorldRecompiler({ store })({});
  const errors = locatedIn({ folder, prefix: "" }, files, errorsOf(diagnostics));
  printDiagnostics(terminal, errors);
  if (errors.length > 0) throw new PortolanError(`${folder} has ${counted(errors.length, "error")}`);
  return store;
}
