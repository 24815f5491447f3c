import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const sample = "samples/bookshop";

/**
 * The sample that comes with the program, for whoever names no folder: of the repository, or of the package that is installed. Its path is short
 * where the program is started above it.
 *
 * @param from where to begin to look, upwards
 * @returns a folder that is not there where a program was bundled by itself, without the sample
 */
export function sampleFolder(from = import.meta.dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, sample);
    const below = relative(process.cwd(), found);
    if (existsSync(found)) return below.startsWith("..") ? found : below;
    if (folder === dirname(folder)) return sample;
  }
}
