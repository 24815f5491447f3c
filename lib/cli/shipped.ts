import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const sample = "samples/bookshop";

/**
 * A file or folder that comes with the program, in the repository or in the package that is installed.
 *
 * @param path below the repository's or the package's folder
 * @param from where to begin to look, upwards
 * @returns undefined where a program was bundled by itself
 */
export function shipped(path: string, from = import.meta.dirname): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, path);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The sample for whoever names no folder. Its path is short where the program is started above it. */
export function sampleFolder(): string {
  const found = shipped(sample) ?? sample;
  const below = relative(process.cwd(), found);
  return below.startsWith("..") ? found : below;
}
