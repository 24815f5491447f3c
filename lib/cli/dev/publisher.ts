import { createAnalysis } from "../../analysis/remembered-analysis.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { WithheldVersions } from "../../compile/isolation/withheld-sources.ts";
import type { Recompiled } from "../../compile/recompile/recompiled.ts";
import { createWorldRecompiler } from "../../compile/recompile.ts";
import { createShardWriter } from "../../compile/shards/write-shard.ts";
import { type CompileObserver, noObserver } from "../../compile/telemetry/observer.ts";
import { defaultWorldOptions } from "../../compile/world/world-of.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { createReadAhead } from "../../config/folder/files/read-ahead.ts";
import { createFolderReader } from "../../config/folder/folder-reader.ts";
import { writeAnalysis } from "../../snapshot/analysis-record.ts";
import { heldPace } from "../../snapshot/head/plan-stages.ts";
import type { Trust } from "../../snapshot/head/signatures.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { actorName } from "../actor.ts";
import { createFieldLines } from "../config/field-lines.ts";
import { filesOf } from "../config/located-messages.ts";
import { bootstrapFor, bootstrapText, proxiesOf } from "../proxy/bootstrap.ts";
import { type BootstrapExample, classSummaries, maxClasses, type Publication } from "./dev-report.ts";
import { type DevSettings, folderSource } from "./dev-settings.ts";

export interface PublisherOptions {
  readonly store: ObjectStore;
  readonly trust: Trust;
  readonly observer?: CompileObserver;
  /** As `RecompileOptions` has them. */
  readonly build?: string | undefined;
  readonly held?: () => WithheldVersions;
}

/** What came of one round, and what `dev` reports of it. */
export interface DevRound {
  readonly told: Recompiled;
  readonly publication: Publication;
}

/**
 * Fills the store's source with the folder, if there is one, and compiles it with all others; each call costs what changed since
 * the one before.
 */
export function createPublisher(
  settings: DevSettings,
  { store, trust, observer = noObserver, build, held }: PublisherOptions,
): () => Promise<DevRound> {
  const { folder, sources, legacyApi, certificates, pollDelayMs, binaryForms, allowEmpty, json, url } = settings;
  let compiledMs = 0;
  let hasExample = url === undefined;
  const texts = new Map<string, string>();
  const ahead = createReadAhead();
  const recompile = createWorldRecompiler({
    store,
    ...(sources.length === 0 ? {} : { sources: [folderSource, ...sources] }),
    world: {
      ...defaultWorldOptions,
      ...(legacyApi === undefined ? {} : { legacyApi }),
      certificates,
      pollDelayMs,
      binaryForms,
    },
    publisher: { pace: heldPace, ...trust },
    observer,
    build,
    looksInto: true,
    texts,
    ahead,
    ...(held === undefined ? {} : { held }),
    onCompiled: () => {
      compiledMs = performance.now();
    },
  });
  const read = folder === undefined ? async () => undefined : createFolderReader(folder);
  const write = createShardWriter(store, folderSource, texts);
  const atFields = createFieldLines();
  const analysisOf = createAnalysis();
  let analyzed: string | undefined;
  const by = actorName();
  const why = folder === undefined ? "portolan dev" : `portolan dev ${folder}`;
  return async () => {
    const startMs = performance.now();
    const files = await read();
    if (files?.length === 0) {
      throw new PortolanError(
        `${folder} holds no .yaml, .yml or .json file; give a folder that does, or try \`portolan dev\` alone`,
      );
    }
    if (files !== undefined) await write(files, { halfSaves: true, allowEmpty, ahead });
    const { compiled, result, ...told } = await recompile({ by, why });
    const compileMs = compiledMs - startMs;
    const publishMs = performance.now() - compiledMs;
    const { kind, root, head, written } = result;
    const example = hasExample ? undefined : exampleIn(compiled.loaded, settings);
    hasExample = true;
    // What is served does not wait for the analysers.
    const analysis = atFields(analysisOf(compiled.loaded), files ?? []);
    if (analyzed !== root) await writeAnalysis(store, root, analysis);
    analyzed = root;
    const publication: Publication = {
      files: files?.length,
      objects: compiled.objects,
      classCount: compiled.value.classes.length,
      classes: classSummaries(compiled.value, json ? undefined : maxClasses),
      diagnostics: told.diagnostics,
      analysis,
      ownFiles: files === undefined ? undefined : filesOf({ prefix: "" }, files, [...told.diagnostics, ...analysis]),
      result: {
        kind,
        root,
        generation: head.generation,
        canary: head.canary,
        written: { objects: written.objects, bytes: written.bytes },
      },
      compileMs,
      publishMs,
      example,
    };
    return { told, publication };
  };
}

/** The bootstrap of one proxy: a gateway if there is one, since it can be asked from outside. */
function exampleIn(
  loaded: LoadedDirectory,
  { url = "", certificates, pollDelayMs }: DevSettings,
): BootstrapExample | undefined {
  const proxies = proxiesOf(loaded).value.filter(({ proxy }) => proxy.type !== "grpc");
  const found = proxies.find(({ proxy }) => proxy.type === "router") ?? proxies[0];
  if (found === undefined) return undefined;
  return {
    proxy: found.proxy.id,
    bootstrap: bootstrapText(bootstrapFor(found, url, 15_000, { certificates, pollDelayMs })),
    more: ` --poll-delay ${pollDelayMs}${certificates === "sds" ? "" : ` --certificates ${certificates}`}`,
    needsAgent: certificates === "sds",
  };
}
