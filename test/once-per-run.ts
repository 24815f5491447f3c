import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Of this process alone, where it belongs to no run of the tests: a benchmark's, for one. */
let own: string | undefined;
function folderOfRun(): string {
  if (process.env.TEST_BUILDS !== undefined) return process.env.TEST_BUILDS;
  if (own === undefined) {
    const made = mkdtempSync(join(tmpdir(), "portolan-builds-"));
    process.once("exit", () => rmSync(made, { recursive: true, force: true }));
    own = made;
  }
  return own;
}

/**
 * Makes a folder once for all test files of a run, whatever worker they run in. The run removes it.
 *
 * @param make fills an empty folder, which is moved when it is full
 * @returns the folder's path
 * @throws what `make` throws, and an error in whoever waits for it meanwhile
 */
export async function oncePerRun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(folderOfRun(), name);
  const draft = `${folder}.draft`;
  const failure = `${folder}.failed`;
  const isFirst = await mkdir(draft).then(
    () => true,
    (cause: unknown) => {
      if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return false;
      throw cause;
    },
  );
  if (isFirst && !existsSync(folder)) {
    try {
      await make(draft);
      await rename(draft, folder);
    } catch (cause) {
      await writeFile(failure, String(cause));
      throw cause;
    }
  }
  while (!existsSync(folder)) {
    if (existsSync(failure)) throw new Error(`${name} was not made, and another test file says why`);
    await sleep(20);
  }
  return folder;
}
