import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { causeText, isFileAbsent } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { Head } from "../../snapshot/root.ts";
import { replaceFile } from "../files/replace-file.ts";

/** The newest signed HEAD that was believed: none that is older is believed again, not after a restart either. */
export interface GenerationKeeper {
  /** @throws PortolanError for a HEAD that is older */
  check(head: Head): void;
  keep(head: Head): Promise<void>;
}

const fileName = "generation.json";

/** @param isTrusting whether HEADs are signed; without signatures an older one says nothing, since anybody could write a newer */
export async function createGenerationKeeper(folder: string, isTrusting: boolean): Promise<GenerationKeeper> {
  const path = join(folder, fileName);
  let newest = isTrusting ? await readGeneration(path) : 0;
  return {
    check({ generation }) {
      if (isTrusting && generation < newest)
        throw new PortolanError(
          `HEAD went back from generation ${newest} to ${generation}: an old HEAD was put back. If you did that on purpose, delete ${path}`,
        );
    },
    async keep({ generation }) {
      if (!isTrusting || generation <= newest) return;
      newest = generation;
      await writeGeneration(path, { generation });
    },
  };
}

/** Leaves a file that says a newer one: another process has believed that. */
export async function writeGeneration(
  path: string,
  said: { readonly store?: string; readonly generation: number },
): Promise<void> {
  if ((await readGeneration(path)) < said.generation) await replaceFile(path, `${JSON.stringify(said)}\n`);
}

/**
 * @returns 0 where there is no such file
 * @throws PortolanError for a file that is there and does not say it: an older HEAD would be believed
 */
export async function readGeneration(path: string): Promise<number> {
  try {
    const { generation }: { readonly generation?: unknown } = JSON.parse(await readFile(path, "utf8"));
    if (typeof generation === "number") return generation;
    throw new PortolanError("it holds no generation");
  } catch (cause) {
    if (isFileAbsent(cause)) return 0;
    throw new PortolanError(
      `${path} cannot be read (${causeText(cause)}), so the newest HEAD that was believed is not known; ` +
        "delete it where the HEAD that comes next is known to be the right one",
      [],
      cause,
    );
  }
}
