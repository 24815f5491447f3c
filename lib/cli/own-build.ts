import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { byCodePoint } from "../config/diagnostic.ts";
import { whereAbsent } from "./absent-file.ts";

/** Put in by whoever bundles: what `ownBuild` gave for what is bundled. */
declare const portolanBuild: string | undefined;

/**
 * Tells the code that runs here from that of any other Portolan: a compile takes from another's only if they are the same.
 *
 * @returns undefined for code that was bundled without saying so
 */
export async function ownBuild(): Promise<string | undefined> {
  if (typeof portolanBuild === "string") return portolanBuild;
  return import.meta.filename.endsWith(".ts") ? digestOfSources() : undefined;
}

/** A hash over all of `lib/` and the versions of what it imports: hex, 64 characters. */
async function digestOfSources(): Promise<string> {
  const root = join(import.meta.dirname, "../..");
  const entries = await readdir(join(root, "lib"), { recursive: true, withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".ts"));
  const files = sources.map(({ parentPath, name }) => relative(root, join(parentPath, name))).sort(byCodePoint);
  const hash = createHash("sha256");
  for (const file of [...files, "package.json", "package-lock.json"]) {
    const bytes = await readFile(join(root, file)).catch(whereAbsent(file, new Uint8Array()));
    hash.update(`${file} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}
