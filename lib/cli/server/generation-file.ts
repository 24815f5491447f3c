import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readGeneration, writeGeneration } from "../../agent/source/generation.ts";
import { hashOf } from "../../base/blob.ts";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { type BelievedGenerations, memoryGenerations } from "../../front/heads/believed-generations.ts";

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
  known.believed(await readGeneration(path));
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    await mkdir(folder, { recursive: true });
    await writeGeneration(path, { store: where, generation: known.newest() });
  }

  return {
    newest: known.newest,
    believed(generation) {
      if (generation <= known.newest()) return;
      known.believed(generation);
      writing = writing.then(write).catch((cause: unknown) => {
        // Another process has written what is no generation.
        if (cause instanceof PortolanError) return onError(cause);
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
