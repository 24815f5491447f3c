import { type Command, Option } from "commander";
import type { Recompiled } from "../../compile/recompile/recompiled.ts";
import { writeShard } from "../../compile/shards/write-shard.ts";
import { ledgerFiles } from "../../config-store/ledger-files.ts";
import { createLedgerStore, type LedgerConfigStore } from "../../config-store/ledger-store.ts";
import { checkBeforeFill } from "../../snapshot/publish.ts";
import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";
import { actorName } from "../actor.ts";
import { storeOption } from "../named-store.ts";
import { keyringOption } from "../secrets/keyring.ts";
import { openObjects } from "./opened-objects.ts";

/** Options that name the store and source that `apply` and similar commands write to. */
export interface TargetOptions {
  readonly store?: string | undefined;
  readonly source: string;
  /** File with the keys that sign what is published; absent where nothing is. */
  readonly keyring?: string;
  /** As `OpenOptions` has it. */
  readonly warn?: (line: string) => void;
}

/** A source's configuration, with history. */
export interface ConfigTarget {
  readonly objects: ObjectStore;
  readonly source: string;
  /** Behind a compile function, which shows what was applied to this source and nothing else. */
  readonly isRemote: boolean;
  readonly configs: LedgerConfigStore;
  /** Hands what was written to the compiler, and compiles: what it reads is the newest version. */
  publish(): Promise<Recompiled>;
}

/** Default source of writes. */
export const usualSource = "operators";

/** @param anySource whether all sources are meant where none is named */
export function addTargetOptions(command: Command, { anySource = false } = {}): Command {
  const source = anySource
    ? new Option("--source <name>", "of this source only")
    : new Option("--source <name>", "the source to write to").default(usualSource);
  return command
    .addOption(storeOption(", or the URL of a compile function"))
    .addOption(source)
    .addOption(keyringOption());
}

/**
 * @param options.isNew whether a store that is not there yet is made by what is written
 * @throws PortolanError when the store is not there, and for an endpoint without its secret
 */
export async function openTarget(options: TargetOptions & { readonly isNew?: boolean }): Promise<ConfigTarget> {
  const { objects, isRemote, compile } = await openObjects(options);
  const prefix = `sources/${encodeKeyPart(options.source)}/ledger`;
  const configs = createLedgerStore(objects, { prefix, author: actorName(), now: Date.now });
  return {
    objects,
    source: options.source,
    isRemote,
    configs,
    async publish() {
      if (!isRemote) await checkBeforeFill(objects);
      // Somebody may write in between; whoever comes last sees the newest head, and hands that on.
      for (let written: string | undefined; ; ) {
        const { version, files } = await ledgerFiles(objects, prefix);
        if (version === written) break;
        // Whoever deletes an object names it, and may mean the last one.
        const part = { part: "applied", allowEmpty: true, storeRescues: isRemote } as const;
        await writeShard(objects, options.source, files, part);
        written = version;
      }
      return compile();
    },
  };
}
