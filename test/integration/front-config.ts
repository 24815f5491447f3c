import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;

export interface FrontConfig {
  readonly name?: string;
  /** With the lines about a queue, which stand there for whoever wants them. */
  readonly hasQueue?: boolean;
  /** With those about a copy of the bucket. */
  readonly hasCopy?: boolean;
  /** The Worker's program, in place of the front's own. */
  readonly main?: string;
}

/** Writes the front Worker's configuration with a change into a folder. @returns its path */
export async function writeFrontConfig(
  folder: string,
  { name = "portolan-front", hasQueue, hasCopy, main }: FrontConfig,
) {
  const text = (await readFile(join(root, "wrangler.toml"), "utf8"))
    .replace(/^name = .*/m, `name = "${name}"`)
    .replace(/^main = .*/m, (own) => (main === undefined ? own : `main = "${main}"`))
    .replace(/"(?:\.\/)?(functions|gen)\//g, `"${root}$1/`);
  const wanted = [...(hasQueue === true ? ["RECOMPILE"] : []), ...(hasCopy === true ? ["SNAPSHOTS_COPY"] : [])];
  const config = wanted.reduce(uncommented, text);
  const path = join(folder, `${name}.toml`);
  await writeFile(path, config);
  return path;
}

/** With the lines that bind something, which stand there for whoever wants them. */
function uncommented(text: string, binding: string): string {
  const block = text.split("\n\n").find((lines) => lines.includes(`\n# binding = "${binding}"`));
  if (block === undefined) throw new Error(`wrangler.toml says nothing of ${binding}`);
  return text.replace(block, block.replace(/^# (?=\[\[|\w+ = ")/gm, ""));
}
