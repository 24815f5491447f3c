import type { Command } from "commander";
import { type Places, placesOf } from "../../compile/places.ts";
import { createSourcesCompiler } from "../../compile/recompile.ts";
import { writeShard } from "../../compile/shards/write-shard.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { readFolder } from "../../config/folder/folder.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import { createSnapshotReader, type SnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { diffWorlds, type WorldDiff } from "../../snapshot/worlds/diff-worlds.ts";
import { loadWorldLike } from "../../snapshot/worlds/load-world.ts";
import { restoreWorld } from "../../snapshot/worlds/restore-world.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { overlayStore } from "../../storage/overlay.ts";
import { openThere, storeOption } from "../named-store.ts";
import { counted } from "../numbers.ts";
import { printDiagnostics, type Terminal } from "../terminal.ts";
import { diffLines, diffMarkdown } from "./diff-text.ts";
import { rootNamed, rootNames } from "./root-named.ts";

interface Options {
  readonly store?: string;
  readonly dir?: string;
  readonly source: string;
  readonly json?: boolean;
  readonly markdown?: boolean;
}

export function registerDiff(program: Command, terminal: Terminal): void {
  program
    .command("diff [before] [after]")
    .description("Shows what differs between two publications, or between what is served and a folder.")
    .addOption(storeOption())
    .option("--dir <folder>", "compile this folder and compare it with what is served, without publishing")
    .option("--source <name>", "with --dir: the source that the folder would fill", "main")
    .option("--json", "as JSON")
    .option("--markdown", "as a comment for a code review")
    .addHelpText(
      "after",
      `\n${rootNames}\nbefore and after default to the last two.\n\nExamples:\n  portolan diff\n  portolan diff 12 HEAD --json\n  portolan diff SERVED NEWEST\n  portolan diff --dir my-mesh/ --markdown`,
    )
    .action(async (before: string | undefined, after: string | undefined, options: Options) => {
      const store = await openThere(options.store);
      const reader = createSnapshotReader(store);
      const { dir, source } = options;
      const later =
        dir === undefined ? await published(store, reader, after ?? "HEAD") : await dryRun(store, dir, source);
      const root = await rootNamed(store, before ?? (options.dir === undefined ? "HEAD~1" : "HEAD"), reader).catch(
        (cause: unknown) => {
          if (before !== undefined || dir !== undefined || !(cause instanceof PortolanError)) throw cause;
          throw new PortolanError(
            `${cause.message}; \`portolan diff --dir FOLDER\` compares it with a folder`,
            [],
            cause,
          );
        },
      );
      const earlier = await loadWorldLike(reader, root, later.world);
      const diff = diffWorlds(earlier, later.world);
      const places = new Map([...(await placesOf(store, earlier.sources)), ...later.places]);
      if (options.json === true)
        terminal.out(JSON.stringify({ ...diff, places: placesNamed(diff, places) }, undefined, 2));
      else if (options.markdown === true) terminal.out(diffMarkdown(diff, places));
      else for (const line of diffLines(diff, places)) terminal.out(line);
      if (later.errors > 0)
        throw new PortolanError(
          `${counted(later.errors, "error")}: what is refused is missing in this comparison, or its last valid form stands in it`,
        );
    });

  /** What a push of the folder would compile to, with everything that the other sources hold. */
  async function dryRun(below: ObjectStore, folder: string, source: string): Promise<Side> {
    const store = overlayStore(below);
    await writeShard(store, source, await readFolder(folder), { allowEmpty: true });
    const { value, diagnostics } = (await createSourcesCompiler({ store })()).compiled;
    printDiagnostics(terminal, diagnostics);
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    return { world: value, places: await placesOf(store, value.sources), errors };
  }
}

/** One side of a comparison. */
interface Side {
  readonly world: CompiledWorld;
  readonly places: Places;
  /** Of what was compiled for this comparison. */
  readonly errors: number;
}

async function published(store: ObjectStore, reader: SnapshotReader, name: string): Promise<Side> {
  const { world } = await restoreWorld(reader, await rootNamed(store, name, reader));
  return { world, places: await placesOf(store, world.sources), errors: 0 };
}

/** The places of the objects that a diff names. */
function placesNamed(diff: WorldDiff, places: Places): Readonly<Record<string, string>> {
  const named = new Set(diff.resources.flatMap(({ from }) => from));
  return Object.fromEntries([...places].filter(([key]) => named.has(key)));
}
