import { causeText } from "../base/cause-text.ts";
import { createShardWriter } from "../compile/shards/write-shard.ts";
import { coalesce } from "../compile/webhook/coalesce.ts";
import { watchFolder } from "../config/folder/folder.ts";
import { createFolderReader } from "../config/folder/folder-reader.ts";
import { stopped } from "../config-store/stopped.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { Collector, CollectorState } from "./collector.ts";

export interface FolderCollectorOptions {
  readonly store: ObjectStore;
  /** Name of the source that is filled. */
  readonly source: string;
  readonly folder: string;
  /** What the source says that it is filled from. */
  readonly origin: string;
  readonly allowEmpty: boolean;
  /** Whether a source that another origin has filled is taken. */
  readonly takeOver: boolean;
  /** The store itself keeps from being collected what a writer finds in place. */
  readonly storeRescues: boolean;
  /** Told of every push that changed something, and of the first. */
  readonly pushed: (version: string, files: number) => void;
  /** Told of what went wrong while the folder was followed; what was pushed stays. */
  readonly failed: (cause: unknown) => void;
}

/** Keeps a source's shard as a folder is, file by file. */
export function createFolderCollector(options: FolderCollectorOptions): Collector {
  const { store, source, folder, origin, allowEmpty, storeRescues } = options;
  // Two that take over would take the source from each other for ever.
  let { takeOver } = options;
  let state: CollectorState = {
    source,
    isFilled: false,
    objects: 0,
    pushes: 0,
    pushedBytes: 0,
    asOfMs: 0,
    failure: "",
  };
  let version = "";
  const read = createFolderReader(folder);
  const write = createShardWriter(store, source);

  async function push(): Promise<void> {
    const readMs = Date.now();
    const files = await read();
    const written = await write(files, { halfSaves: true, allowEmpty, origin, takeOver, storeRescues });
    takeOver = false;
    state = { ...state, isFilled: true, asOfMs: readMs, failure: "" };
    if (written === version) return;
    version = written;
    state = { ...state, objects: files.length, pushes: state.pushes + 1 };
    options.pushed(version, files.length);
  }

  return {
    once: push,
    async run(signal) {
      const again = coalesce(async () => {
        try {
          await push();
        } catch (cause) {
          state = { ...state, failure: causeText(cause) };
          options.failed(cause);
        }
      });
      const unwatch = await watchFolder(folder, () => void again());
      // What was saved while the watch was set up.
      void again();
      await stopped(signal);
      await unwatch();
      await again();
    },
    // The watch is the origin's word: while it stands, the source is as the folder is.
    state: () => (state.isFilled && state.failure === "" ? { ...state, asOfMs: Date.now() } : state),
  };
}
