import { type Command, InvalidArgumentError } from "commander";
import { byCodePoint, type Diagnostic, errorsOf, PortolanError } from "../../base/diagnostic.ts";
import { createSourcesCompiler } from "../../compile/recompile.ts";
import { filePrefixOf } from "../../compile/shards/source-names.ts";
import { writeShard } from "../../compile/shards/write-shard.ts";
import { locationsOf, type SourceLocations } from "../../compile/source-locations.ts";
import { countOfCode, stagedBy } from "../../compile/telemetry/observer.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import { readFolder } from "../../config/folder/folder.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import { namedPods } from "../../snapshot/nodes/node-names.ts";
import { createSnapshotReader, type SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { diffWorlds, type WorldDiff } from "../../snapshot/worlds/diff-worlds.ts";
import { loadWorldLike } from "../../snapshot/worlds/load-world.ts";
import { restoreWorld } from "../../snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../storage/memory.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { overlayStore } from "../../storage/overlay.ts";
import { locatedIn } from "../config/located-messages.ts";
import { openThere, storeOption } from "../named-store.ts";
import { counted } from "../numbers.ts";
import { noProgress, type Progress } from "../progress.ts";
import { printDiagnostics, type Terminal } from "../terminal.ts";
import { diffLines, diffMarkdown } from "./diff-text.ts";
import { filesAtBase } from "./git-base.ts";
import { rootNamed, rootNames } from "./root-named.ts";

interface Options {
  readonly store?: string;
  readonly dir?: string;
  readonly base?: string;
  readonly source: string;
  readonly json?: boolean;
  readonly markdown?: boolean;
}

export function registerDiff(program: Command, terminal: Terminal): void {
  program
    .command("diff [before] [after]")
    .description("Shows the difference between two publications, or between the served version and a folder.")
    .addOption(storeOption())
    .option("--dir <folder>", "compile this folder and compare it with what is served, without publishing")
    .option("--base <commit>", "with --dir: compare it with this commit of its git repository; no store is read")
    .option("--source <name>", "with --dir: the name of the folder's source", "main")
    .option("--json", "as JSON")
    .option("--markdown", "as a comment for a code review")
    .addHelpText(
      "after",
      `\n${rootNames}\nbefore and after default to the last two.\n\nExamples:\n  portolan diff\n  portolan diff 12 HEAD --json\n  portolan diff SERVED NEWEST\n  portolan diff --dir my-mesh/ --markdown\n  portolan diff --dir my-mesh/ --base main --markdown`,
    )
    .action(async (before: string | undefined, after: string | undefined, options: Options) => {
      const { earlier, later, extraPlaces } = await sidesOf(before, after, options);
      const diff = diffWorlds(earlier, later.world);
      const places = new Map([...extraPlaces, ...later.places]);
      if (options.json === true)
        terminal.out(JSON.stringify({ ...diff, places: placesNamed(diff, places) }, undefined, 2));
      else if (options.markdown === true)
        terminal.out(
          diffMarkdown(diff, places, { proxies: proxiesByClass([earlier, later.world]), refused: later.refused }),
        );
      else for (const line of diffLines(diff, places)) terminal.out(line);
      if (later.refused.length > 0)
        throw new PortolanError(`${counted(later.refused.length, "error")}: ${comparedInstead(later.closed)}`);
    });

  async function sidesOf(before: string | undefined, after: string | undefined, options: Options): Promise<Sides> {
    const { dir, base, source } = options;
    if (base !== undefined) {
      if (dir === undefined || before !== undefined)
        throw new InvalidArgumentError("--base goes with --dir, and with no publication");
      const earlier = await compiledSide(memoryStore(), "main", await filesAtBase(dir, base), terminal.progress);
      if (earlier.refused.length > 0)
        terminal.err(
          `${base} has ${counted(earlier.refused.length, "error")} itself: what is refused there is missing on its side`,
        );
      const later = await compiledFolderSide(memoryStore(), "main", dir, terminal.progress);
      printDiagnostics(terminal, later.refused);
      return { earlier: earlier.world, extraPlaces: earlier.places, later };
    }
    const store = await openThere(options.store, terminal.progress);
    const reader = createSnapshotReader(store);
    const later =
      dir === undefined ? await published(store, reader, after ?? "HEAD") : await dryRun(store, dir, source);
    const root = await rootNamed(store, before ?? (dir === undefined ? "HEAD~1" : "HEAD"), reader).catch(
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
    return { earlier, extraPlaces: await locationsOf(store, earlier.sources), later };
  }

  /** What a push of the folder would compile to, with everything that the other sources hold. */
  async function dryRun(below: ObjectStore, folder: string, source: string): Promise<Side> {
    const side = await compiledFolderSide(overlayStore(below), source, folder, terminal.progress);
    printDiagnostics(terminal, side.diagnostics);
    return side;
  }
}

/** A side that was compiled for this comparison. */
interface CompiledSide extends Side {
  /** All that there is to say of it. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What files compile to as a source of a store, with everything that its other sources hold. */
async function compiledSide(
  store: ObjectStore,
  source: string,
  files: readonly SourceFile[],
  { observer }: Progress = noProgress,
): Promise<CompiledSide> {
  await writeShard(store, source, files, { allowEmpty: true });
  const { value, diagnostics } = (await createSourcesCompiler({ store })(stagedBy(observer.begin()))).compiled;
  return {
    world: value,
    places: await locationsOf(store, value.sources),
    refused: errorsOf(diagnostics),
    closed: countOfCode(diagnostics, "security-closed"),
    diagnostics,
  };
}

/** The same of a folder, with its files named from the working directory in messages. */
async function compiledFolderSide(
  store: ObjectStore,
  source: string,
  folder: string,
  progress: Progress | undefined,
): Promise<CompiledSide> {
  const files = await readFolder(folder);
  const side = await compiledSide(store, source, files, progress);
  const where = { folder, prefix: filePrefixOf(source, side.world.sources[0]?.name === source) };
  return {
    ...side,
    refused: locatedIn(where, files, side.refused),
    diagnostics: locatedIn(where, files, side.diagnostics),
  };
}

/** One side of a comparison. */
interface Side {
  readonly world: CompiledWorld;
  readonly places: SourceLocations;
  /** Errors of what was compiled for this comparison. */
  readonly refused: readonly Diagnostic[];
  /** How many refused security objects, and rules, are closed in it. */
  readonly closed: number;
}

const comparedInstead = (closed: number): string =>
  closed === 0
    ? "refused objects are missing in this comparison, or have their last valid form"
    : `what ${counted(closed, "security object")} would select is closed in this comparison; \`portolan push\` refuses this folder without --accept-closed`;

interface Sides {
  readonly earlier: CompiledWorld;
  readonly later: Side;
  /** Places of objects that only the earlier side may have. */
  readonly extraPlaces: SourceLocations;
}

async function published(store: ObjectStore, reader: SnapshotReader, name: string): Promise<Side> {
  const { world } = await restoreWorld(reader, await rootNamed(store, name, reader));
  return { world, places: await locationsOf(store, world.sources), refused: [], closed: 0 };
}

/** The names of the proxies of each class, on any side; sorted. */
function proxiesByClass(worlds: readonly CompiledWorld[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const { name, classId } of worlds.flatMap(({ nodes }) => namedPods(nodes))) {
    const names = found.get(classId) ?? new Set();
    found.set(classId, names);
    names.add(name);
  }
  return new Map([...found].map(([id, names]) => [id, [...names].sort(byCodePoint)]));
}

/** The places of the objects that a diff names. */
function placesNamed(diff: WorldDiff, places: SourceLocations): Readonly<Record<string, string>> {
  const named = new Set(diff.resources.flatMap(({ from }) => from));
  return Object.fromEntries([...places].filter(([key]) => named.has(key)));
}
