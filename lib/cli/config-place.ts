import type { Command } from "commander";
import { createRecompiler, type Recompiled } from "../compile/recompile.ts";
import { writeShard } from "../compile/source-shard.ts";
import { objectSigner } from "../compile/webhook/object-signature.ts";
import { PortolanError } from "../config/diagnostic.ts";
import { ledgerFiles } from "../config-store/ledger-files.ts";
import { createLedgerStore, type LedgerConfigStore } from "../config-store/ledger-store.ts";
import { httpStore } from "../storage/http.ts";
import { encodeKeyPart, type ObjectStore } from "../storage/object-store.ts";
import { actorName } from "./actor.ts";
import { keyringOption, trustOf } from "./keyring.ts";
import { postSigned, webhookSecret } from "./post-signed.ts";
import { openStore } from "./snapshots/open-store.ts";

/** Where `apply` and its like write to. */
export interface PlaceOptions {
  readonly store?: string;
  readonly source: string;
  /** File with the keys that sign what is published; absent where nothing is. */
  readonly keyring?: string;
}

/** A source's configuration, with history. */
export interface ConfigPlace {
  readonly configs: LedgerConfigStore;
  /** Hands what was written to the compiler, and compiles: what it reads is the newest version. */
  publish(): Promise<Recompiled>;
}

export function addPlaceOptions(command: Command): Command {
  return command
    .option(
      "--store <place>",
      "a folder, s3://bucket/prefix, or the URL of a compile function (default: $PORTOLAN_STORE)",
    )
    .option("--source <name>", "the source to write to", "operators")
    .addOption(keyringOption());
}

/** @throws PortolanError when no store is named, or an endpoint without its secret */
export async function openPlace(options: PlaceOptions): Promise<ConfigPlace> {
  const place = options.store ?? process.env.PORTOLAN_STORE ?? "";
  if (place === "") throw new PortolanError("no store: give --store, or set PORTOLAN_STORE");
  const { objects, isRemote, compile } = await openObjects(place, options.keyring);
  const prefix = `sources/${encodeKeyPart(options.source)}/ledger`;
  const configs = createLedgerStore(objects, { prefix, author: actorName(), now: Date.now });
  return {
    configs,
    async publish() {
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

interface OpenedObjects {
  readonly objects: ObjectStore;
  readonly isRemote: boolean;
  /** Compiles what the sources hold. */
  compile(): Promise<Recompiled>;
}

async function openObjects(place: string, keyring: string | undefined): Promise<OpenedObjects> {
  if (/^https?:\/\//.test(place)) return openEndpoint(place.replace(/\/$/, ""), webhookSecret());
  const store = await openStore(place);
  return {
    objects: store,
    isRemote: false,
    async compile() {
      const publisher = keyring === undefined ? {} : await trustOf(keyring);
      return createRecompiler({ store, publisher })({ by: actorName() });
    },
  };
}

function openEndpoint(url: string, secret: string): OpenedObjects {
  return {
    objects: httpStore({ url: `${url}/objects`, authorize: objectSigner(secret) }),
    isRemote: true,
    compile: async () => JSON.parse(await postSigned(url, "/hooks/recompile", "", secret)),
  };
}
