import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { byCodePoint } from "../base/diagnostic.ts";
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
  if (!import.meta.filename.endsWith(".ts")) return undefined;
  digest ??= digestOfSources();
  return digest;
}

/** Computed once: the code of a process is what it loaded, whatever is written to these files later. */
let digest: string | undefined;

/** A hash over all of `lib/` and the versions of what it imports: hex, 64 characters. Synchronous, because a thread for each file costs more. */
function digestOfSources(): string {
  const root = join(import.meta.dirname, "../..");
  const entries = readdirSync(join(root, "lib"), { recursive: true, withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".ts"));
  const files = sources.map(({ parentPath, name }) => relative(root, join(parentPath, name))).sort(byCodePoint);
  const hash = createHash("sha256");
  for (const file of [...files, "package.json", "package-lock.json"]) {
    const bytes = read(root, file);
    hash.update(`${file} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

function read(root: string, file: string): Uint8Array {
  try {
    return readFileSync(join(root, file));
  } catch (cause) {
    return whereAbsent(file, new Uint8Array())(cause);
  }
}
