import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;

export interface FrontConfig {
  readonly name?: string;
  /** With the lines about a queue, which stand there for whoever wants them. */
  readonly hasQueue?: boolean;
}

/** Writes the front Worker's configuration with a change into a folder. @returns its path */
export async function writeFrontConfig(folder: string, { name = "portolan-front", hasQueue }: FrontConfig) {
  const text = (await readFile(join(root, "wrangler.toml"), "utf8"))
    .replace(/^name = .*/m, `name = "${name}"`)
    .replace(/"(?:\.\/)?(functions|gen)\//g, `"${root}$1/`);
  const config = hasQueue === true ? text.replace(/^# (?=\[\[queues|binding|queue =)/gm, "") : text;
  if (hasQueue === true && !config.includes('\nbinding = "RECOMPILE"'))
    throw new Error("wrangler.toml says nothing of a queue");
  const path = join(folder, `${name}.toml`);
  await writeFile(path, config);
  return path;
}
