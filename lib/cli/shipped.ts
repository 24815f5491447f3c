import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { PortolanError } from "../base/diagnostic.ts";

const sample = "samples/bookshop";

/**
 * A file or folder that comes with the program, in the repository or in the package that is installed.
 *
 * @param path below the repository's or the package's folder
 * @param from where to begin to look, upwards
 * @returns undefined where a program was bundled by itself
 */
function shipped(path: string, from = import.meta.dirname): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, path);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) return undefined;
  }
}

/**
 * A program that is started as a process or a thread of its own.
 *
 * @param name as its source and its bundle have it
 * @param what says what it is, for people
 * @throws PortolanError where neither is there
 */
export function shippedProgram(name: string, what: string): string {
  const program = shipped(`functions/${name}.node.ts`) ?? shipped(`dist/package/${name}.js`);
  if (program === undefined) throw new PortolanError(`${what} is not where this one was installed`);
  return program;
}

/** The sample for whoever names no folder. Its path is short where the program is started above it. */
export function sampleFolder(): string {
  const found = shipped(sample) ?? sample;
  const below = relative(process.cwd(), found);
  return below.startsWith("..") ? found : below;
}
