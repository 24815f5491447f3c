import type { Diagnostic } from "../../base/diagnostic.ts";
import type { ReadAhead } from "../../config/folder/files/read-ahead.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import type { ReadHead } from "../../snapshot/head/head.ts";
import type { Prewrite, Prewritten } from "../../snapshot/prewrite.ts";
import type { PublisherOptions, PublishResult } from "../../snapshot/publish.ts";
import type { Canary, Configuration, Pin } from "../../snapshot/root.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Analyst } from "../analyst.ts";
import type { FilesCompiled } from "../compile-files.ts";
import type { WithheldVersions } from "../isolation/withheld-sources.ts";
import type { ReusableKeeper } from "../reuse/keep-reusable.ts";
import type { TextsByHash } from "../shards/source-shard.ts";
import type { FanOut } from "../slices/fan-out.ts";
import type { CompileObserver, Staged } from "../telemetry/observer.ts";
import type { RecordedSettings } from "../world/recorded-settings.ts";
import type { WorldOptions } from "../world/world-of.ts";

export interface Recompiled {
  /** What came of it: `unchanged` when the world compiles to the root that HEAD leads to already; `PublishResult` has the others. */
  readonly kind: Exclude<PublishResult["kind"], "lost">;
  /** Hash of the root. */
  readonly version: string;
  readonly generation: number;
  /** What holds everybody where they are; absent where nothing does. */
  readonly pin?: Pin;
  /** What a part of the nodes has, where this was published for such a part, or is held. */
  readonly canary?: Canary;
  /** The canary that ended with this one; absent: none did. */
  readonly replaced?: Canary;
  /** How many blobs of what is served were missing or damaged, and are written anew; absent for none. */
  readonly mended?: number;
  /** Roots that nodes were led away from without steps, since they could not be read; absent for none. */
  readonly unread?: readonly string[];
  /** The source whose files are named as they are in diagnostics; those of the others have their source's name before them. */
  readonly primary?: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** A compile with all that came of it, for whoever runs in the same process. */
export interface RecompiledWorld extends Recompiled {
  readonly compiled: FilesCompiled;
  readonly result: Exclude<PublishResult, { readonly kind: "lost" }>;
}

export interface RecompileOptions {
  readonly store: ObjectStore;
  /** Sources that come first, in order: the first is the primary, whose mesh settings count. Absent: as recorded in the store. */
  readonly sources?: readonly string[];
  /** How to compile, in full. Absent: as recorded in the store. */
  readonly world?: WorldOptions;
  /** What is otherwise than it is recorded. */
  readonly change?: Partial<RecordedSettings>;
  readonly publisher?: PublisherOptions;
  /** Called between compiling and publishing. */
  readonly onCompiled?: () => void;
  /** Is given each root that was published, or is in force already, with its world where this process holds it. */
  readonly onPublished?: Analyst["take"];
  /** Hands the classes of a world to others to be compiled, where it is large enough; absent: all are compiled here. */
  readonly fanOut?: FanOut;
  /** Where there is little room for a world; absent: there is room for all of it, and for what is remembered of it. */
  readonly memoryLimits?: MemoryLimits | undefined;
  /** Is told of every compile: its stages, what they took, what came of them. */
  readonly observer?: CompileObserver;
  /**
   * Tells the code of this compiler from that of any other. With it, a process that starts with an empty memory takes from the newest
   * publish what still stands; absent: it makes everything.
   */
  readonly build?: string | undefined;
  /** Whether the caller reads what was compiled, resource by resource: then nothing is taken that would have to be read first. False when absent. */
  readonly looksInto?: boolean;
  /** Starts to write what a process makes in its first compile before all of it is made; absent: it is written when it is published. */
  readonly startPrewrite?: (() => Prewrite) | undefined;
  /** Texts of sources that are known to lie in the store, by their hashes: those of a writer in this process. Absent: all are read. */
  readonly texts?: TextsByHash;
  /** What that writer has read of the primary source. Absent: nothing. */
  readonly ahead?: ReadAhead | undefined;
  /** Versions of sources that are not to be compiled, asked before each compile; absent: none. */
  readonly held?: () => WithheldVersions;
  /** Milliseconds since the epoch, to tell how old collected sources are; the system's clock when absent. */
  readonly now?: () => number;
}

/** What a process with little memory holds of a world at once. */
export interface MemoryLimits {
  /** Of a world whose sources have at most so many bytes all is held, and remembered for the next compile. */
  readonly wholeBytes: number;
  /** Of a larger one the classes are made in slices, one for so many bytes of its sources. */
  readonly sliceBytes: number;
  /** A larger one is read again for the analysers once it is published, where its sources have at most so many bytes; absent: always. */
  readonly analyzedBytes?: number;
}

/** What was compiled, as far as publishing and telling need it. */
export interface Published {
  readonly primary: string;
  readonly settings: RecordedSettings;
  readonly compiled: Pick<FilesCompiled, "value" | "diagnostics" | "memo"> & Partial<Pick<FilesCompiled, "loaded">>;
  /** Blobs that the store has, and that others have written; absent: none is known to be there. */
  readonly prewritten?: ReadonlySet<string>;
  /** Why a process that started cold could take nothing from the newest publish, and has made everything; absent: it took, or was not to. */
  readonly missed?: string | undefined;
  /** What this process has had written of it while it was made; absent: nothing. */
  readonly early?: Promise<Prewritten> | undefined;
  /**
   * The same registries with other configuration.
   *
   * @throws SourceNotKept when a version of it is not in the store
   */
  withConfiguration(configuration: Configuration): Promise<HeldCompiled>;
}

/** A world with configuration that is held. */
export interface HeldCompiled {
  readonly world: CompiledWorld;
  /** As in `Published`. */
  readonly prewritten?: ReadonlySet<string>;
}

export interface HeldOnly extends HeldCompiled {
  readonly settings: RecordedSettings;
}

/** Compiles for whoever publishes it. */
export interface Compiling<C> {
  /**
   * @param base HEAD, which was read before
   * @param filled settles when the sources may be read
   */
  compile(staged: Staged, base: ReadHead | undefined, filled: Promise<unknown>): Promise<C>;
  /** Configuration that is held with the newest registries, and nothing else. @throws SourceNotKept */
  compileHeld(staged: Staged, base: ReadHead | undefined, configuration: Configuration): Promise<HeldOnly>;
  readonly reusable: Pick<ReusableKeeper, "moved" | "drop">;
}
