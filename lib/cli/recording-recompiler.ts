import { causeText } from "../base/cause-text.ts";
import { createAnalyst } from "../compile/analyst.ts";
import type { Recompiled, RecompileOptions } from "../compile/recompile/recompiled.ts";
import { createRecompiler } from "../compile/recompile.ts";
import type { Publishing } from "../snapshot/publish.ts";
import { ownBuild } from "./own-build.ts";
import { proseLine } from "./terminal.ts";

/**
 * Compiles and publishes what a store's sources hold, and records what the analysers find beside what is published. What was published
 * stands where that fails.
 *
 * @param warn is given why the messages of the analysers were not recorded
 */
export async function createRecordingRecompiler(
  options: Pick<RecompileOptions, "store" | "publisher" | "observer">,
  warn: (line: string) => void,
): Promise<(publishing?: Publishing) => Promise<Recompiled>> {
  const analyst = createAnalyst(options.store);
  const recompile = createRecompiler({ ...options, build: await ownBuild(), onPublished: analyst.take });
  return async (publishing) => {
    const told = await recompile(publishing);
    await analyst.record().catch((cause: unknown) => warn(notRecorded(cause)));
    return told;
  };
}

export const notRecorded = (cause: unknown): string =>
  proseLine(`published, but the messages of the analysers were not recorded: ${causeText(cause)}`);
