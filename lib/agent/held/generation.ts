import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PortolanError } from "../../config/diagnostic.ts";
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
          `HEAD went back from generation ${newest} to ${generation}: somebody has put an old one back; if that was you, delete ${path}`,
        );
    },
    async keep({ generation }) {
      if (!isTrusting || generation <= newest) return;
      newest = generation;
      await replaceFile(path, `${JSON.stringify({ generation })}\n`);
    },
  };
}

/** @throws PortolanError for a file that is there and does not say it: an older HEAD would be believed */
async function readGeneration(path: string): Promise<number> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw unknownGeneration(path, cause);
  });
  if (text === undefined) return 0;
  try {
    const { generation }: { readonly generation?: unknown } = JSON.parse(text);
    if (typeof generation === "number") return generation;
  } catch (cause) {
    throw unknownGeneration(path, cause);
  }
  throw unknownGeneration(path, undefined);
}

const unknownGeneration = (path: string, cause: unknown): PortolanError =>
  new PortolanError(
    `${path} cannot be read, so the newest HEAD that was believed is not known; delete it to believe the next one that is signed`,
    [],
    cause,
  );
