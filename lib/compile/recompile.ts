import { type Diagnostic, PortolanError } from "../config/diagnostic.ts";
import { createPublisher, type PublisherOptions, type PublishResult } from "../snapshot/publish.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { createFileCompiler, type FilesCompiled } from "./compile-files.ts";
import { filesOf, readShard } from "./source-shard.ts";
import type { WorldOptions } from "./world-of.ts";

export interface Recompiled {
  /** What came of it: `unchanged` when the world compiles to the root that HEAD leads to already; `PublishResult` has the others. */
  readonly kind: Exclude<PublishResult["kind"], "lost">;
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
export function createRecompiler({
  store,
  sources,
  world,
  publisher: options,
}: RecompileOptions): () => Promise<Recompiled> {
  const compileFiles = createFileCompiler(world);
  const publisher = createPublisher(store, options);
  return async () => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      // HEAD first: whoever publishes a newer world meanwhile makes this attempt lose.
      const base = await publisher.head();
      const shards = (await Promise.all(sources.map((name) => readShard(store, name)))).filter(
        (shard) => shard !== undefined,
      );
      if (shards.length === 0) throw new PortolanError(`no source was filled yet: ${sources.join(", ")}`);
      const compiled = compileFiles(
        filesOf(shards),
        shards.map(({ name, version }) => ({ name, version })),
      );
      refuseRubbish(compiled);
      const result = await publisher.publish(compiled.value, base);
      if (result.kind !== "lost") {
        const { kind, root, head } = result;
        return { kind, version: root, generation: head.generation, diagnostics: compiled.diagnostics };
      }
    }
    throw new PortolanError(
      `HEAD moved ${maxAttempts} times while this compiled; somebody else publishes all the time`,
    );
  };
}

/** Sources that hold errors and nothing else are a mistake of whoever filled them, and no reason to empty the mesh. */
function refuseRubbish({ objects, diagnostics }: FilesCompiled): void {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (objects === 0 && errors.length > 0) {
    throw new PortolanError("the sources hold no configuration that can be read", errors);
  }
}
