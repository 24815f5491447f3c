import { type Diagnostic, PortolanError } from "../config/diagnostic.ts";
import { readFiles } from "../config/directory.ts";
import { createMemo } from "../mesh/memo.ts";
import { createPublisher, type PublisherOptions } from "../snapshot/publish.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { compile } from "./compile.ts";
import { sortDiagnostics } from "./sort-diagnostics.ts";
import { readShard, type SourceShard } from "./source-shard.ts";
import { type WorldOptions, worldOf } from "./world-of.ts";

export interface Recompiled {
  /** Whether HEAD moved; `unchanged` when the world compiles to the root it leads to already. */
  readonly kind: "published" | "unchanged";
  /** Hash of the root. */
  readonly version: string;
  readonly generation: number;
  readonly diagnostics: readonly Diagnostic[];
}

export interface RecompileOptions {
  readonly store: ObjectStore;
  /** Source shards in order; the first is the primary, whose mesh settings count. */
  readonly sources: readonly string[];
  readonly world: WorldOptions;
  readonly publisher?: PublisherOptions;
}

const maxAttempts = 6;

/**
 * Compiles what lies in the source shards and publishes it, again and again until nobody else was faster. Remembers between
 * calls what did not change.
 *
 * @returns a function that throws PortolanError, with HEAD untouched, when the store fails, no source was ever filled, or
 * what a source holds is no configuration
 */
export function createRecompiler(options: RecompileOptions): () => Promise<Recompiled> {
  const { store, sources, world: worldOptions } = options;
  const memo = createMemo();
  const publisher = createPublisher(store, options.publisher);
  return async () => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const base = await publisher.head();
      const shards = (await Promise.all(sources.map((name) => readShard(store, name)))).filter(
        (shard) => shard !== undefined,
      );
      const loaded = readFiles(filesOf(shards));
      refuseRubbish(shards, loaded.diagnostics, loaded.configs.length + loaded.objects.length);
      const world = worldOf(loaded, worldOptions, memo);
      const compiled = compile(
        world.value,
        shards.map(({ name, version }) => ({ name, version })),
        memo,
      );
      const diagnostics = sortDiagnostics([...loaded.diagnostics, ...world.diagnostics, ...compiled.diagnostics]);
      const result = await publisher.publish({ ...compiled.value, diagnostics }, base);
      if (result.kind !== "lost") {
        return { kind: result.kind, version: result.root, generation: result.head.generation, diagnostics };
      }
    }
    throw new PortolanError(
      `HEAD moved ${maxAttempts} times while this compiled; somebody else publishes all the time`,
    );
  };
}

/** The primary's files as they are, those of the others below a folder of their source's name. */
function filesOf(shards: readonly SourceShard[]) {
  return shards.flatMap(({ name, files }, i) =>
    files.map(({ file, text }) => ({ file: i === 0 ? file : `${name}/${file}`, text })),
  );
}

/** A source that holds errors and nothing else is a mistake of whoever filled it, and no reason to empty the mesh. */
function refuseRubbish(shards: readonly SourceShard[], diagnostics: readonly Diagnostic[], objects: number): void {
  if (shards.length === 0) throw new PortolanError("no source was filled yet");
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (objects === 0 && errors.length > 0) {
    throw new PortolanError("the sources hold no configuration that can be read", errors);
  }
}
