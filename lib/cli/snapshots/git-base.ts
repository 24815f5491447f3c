import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PortolanError } from "../../base/diagnostic.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import { readFolder } from "../../config/folder/folder.ts";

const run = promisify(execFile);

/**
 * The files of a folder as they were in another commit of its git repository, read without touching the working tree.
 *
 * @param base a branch, a tag or a commit; where a branch is known of the remote only, `origin/` before it is tried too
 * @throws PortolanError where the folder is in no repository, or that has no such commit, or the commit no such folder
 */
export async function filesAtBase(folder: string, base: string): Promise<readonly SourceFile[]> {
  const git = async (...args: readonly string[]): Promise<string> =>
    (await run("git", ["-C", folder, ...args])).stdout.trim();
  const inside = await git("rev-parse", "--is-inside-work-tree").catch(() => "");
  if (inside !== "true") throw new PortolanError(`--base needs a folder of a git repository, and ${folder} is in none`);
  const commit = (name: string) =>
    git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`).catch(() => "");
  const found = (await commit(base)) || (await commit(`origin/${base}`));
  if (found === "")
    throw new PortolanError(`there is no commit ${JSON.stringify(base.slice(0, 200))} here${howToFetch(base)}`);
  const prefix = await git("rev-parse", "--show-prefix");
  const isThere = await git("cat-file", "-e", `${found}:${prefix}`).then(
    () => true,
    () => false,
  );
  // A folder that is new has had no files.
  if (!isThere) return [];
  const directory = await mkdtemp(join(tmpdir(), "portolan-base-"));
  try {
    const archive = join(directory, "base.tar");
    await run("git", ["-C", folder, "archive", "--format=tar", "-o", archive, found]);
    const files = join(directory, "files");
    await mkdir(files);
    await run("tar", ["-xf", archive, "-C", files]);
    return await readFolder(files);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A command that people may copy holds nothing of what they were given that a shell, or git, reads as more than a name. */
const howToFetch = (base: string): string =>
  /^\w[\w./-]{0,199}$/.test(base) ? `; in a shallow clone, \`git fetch --depth=1 origin ${base}\` brings it` : "";
