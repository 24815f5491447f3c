import { mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { replaceFile } from "../../agent/files/replace-file.ts";
import { causeText } from "../../config/cause-text.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { type BelievedGenerations, memoryGenerations } from "../../front/heads/believed-generations.ts";
import { hashOf } from "../../snapshot/blob.ts";

export interface GenerationFileOptions {
  /** Has a file for each store. It must not lie in the store: whoever writes that would write this too. */
  readonly folder: string;
  /** A folder, or `s3://bucket/prefix`. */
  readonly store: string;
  /** Told of a folder that takes no file: a restart then forgets the generation. */
  readonly onError: (cause: unknown) => void;
}

/**
 * The newest generation of HEAD that fronts of a store on this machine have believed, in a file: a front that is started again follows no
 * older HEAD either.
 *
 * @throws PortolanError for a file that is there and cannot be read: what it said may not be forgotten
 */
export async function fileGenerations({ folder, store, onError }: GenerationFileOptions): Promise<BelievedGenerations> {
  const where = store.includes("://") ? store : resolve(store);
  const path = join(folder, `${hashOf(where).slice(0, 16)}.json`);
  const known = memoryGenerations();
  known.believed(await generationIn(path));
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    await mkdir(folder, { recursive: true });
    await replaceFile(path, `${JSON.stringify({ store: where, generation: known.newest() })}\n`);
  }

  return {
    newest: known.newest,
    believed(generation) {
      if (generation <= known.newest()) return;
      known.believed(generation);
      writing = writing.then(write).catch((cause: unknown) => {
        onError(
          new PortolanError(
            `${path} cannot be written, so a restart of this front would follow an older HEAD: ${causeText(cause)}. ` +
              "Name a folder that it may write in trust.generations (PORTOLAN_GENERATIONS)",
          ),
        );
      });
    },
    remedy: `delete ${path} and restart this front`,
  };
}

/** 0 where there is no such file. */
async function generationIn(path: string): Promise<number> {
  try {
    const { generation }: { readonly generation?: unknown } = JSON.parse(await readFile(path, "utf8"));
    if (typeof generation === "number") return generation;
    throw new PortolanError("it holds no generation");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return 0;
    throw new PortolanError(
      `${path} cannot be read, and says which HEAD was believed last: ${causeText(cause)}. ` +
        "Mend it, or delete it where the store's HEAD is known to be the right one",
      [],
      cause,
    );
  }
}
