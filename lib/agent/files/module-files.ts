import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { PortolanError } from "../../base/diagnostic.ts";
import { type FolderBound, keepWithin, noteUse, openFolder } from "./bounded-folder.ts";
import { draftEnding } from "./replace-file.ts";

/** As the resolver bounds a module. */
const maxModuleBytes = 64 * 1024 * 1024;

/** The modules of one Envoy, and those that it had before. */
const bound: FolderBound = { maxBytes: 256 * 1024 * 1024, maxFiles: 64 };

/** Modules of Wasm that an agent keeps as files, each named by its SHA-256. */
export interface ModuleFiles {
  /**
   * The path of a module that was checked against its hash, fetched where it is not there.
   *
   * @param sha256 lower-case hex
   * @throws PortolanError when it cannot be had
   */
  path(sha256: string): Promise<string>;
}

/** @param fetch reads a module from the server, piece by piece */
export function createModuleFiles(
  folder: string,
  fetch: (sha256: string) => Promise<AsyncIterable<Uint8Array>>,
): ModuleFiles {
  /** Those that are being looked for: several listeners ask for the same at a time. */
  const coming = new Map<string, Promise<string>>();
  /** Those that this process has checked, with their size then. */
  const checked = new Map<string, number>();

  async function find(sha256: string): Promise<string> {
    const path = join(folder, sha256);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && found.size === checked.get(sha256)) return path;
    if (found !== undefined && (await hashOfFile(path)) === sha256) {
      checked.set(sha256, found.size);
      return path;
    }
    await openFolder(folder);
    checked.set(sha256, await fetchInto(path, sha256, await fetch(sha256)));
    await keepWithin(folder, bound);
    return path;
  }

  return {
    async path(sha256) {
      const begun = coming.get(sha256) ?? find(sha256).finally(() => coming.delete(sha256));
      coming.set(sha256, begun);
      const path = await begun;
      await noteUse(path);
      return path;
    },
  };
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

/** @returns its size in bytes @throws PortolanError for other bytes than the hash is of, of which nothing is kept */
async function fetchInto(path: string, sha256: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const draft = `${path}.${randomUUID().slice(0, 8)}${draftEnding}`;
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > maxModuleBytes)
          throw new PortolanError(`the module ${sha256} has more than ${maxModuleBytes / 1024 / 1024} MiB`);
        hash.update(chunk);
        await file.writeFile(chunk);
      }
    } finally {
      await file.close();
    }
    const found = hash.digest("hex");
    if (found !== sha256) throw new PortolanError(`the server answers with other bytes than the module ${sha256}`);
    await rename(draft, path);
    return bytes;
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  }
}
