import type { Command } from "commander";
import { writeShard } from "../compile/source-shard.ts";
import { objectSigner } from "../compile/webhook/object-signature.ts";
import { PortolanError } from "../config/diagnostic.ts";
import { ledgerFiles } from "../config-store/ledger-files.ts";
import { createLedgerStore, type LedgerConfigStore } from "../config-store/ledger-store.ts";
import { fileStore } from "../storage/files.ts";
import { httpStore } from "../storage/http.ts";
import { encodeKeyPart, type ObjectStore } from "../storage/object-store.ts";
import { actorName } from "./actor.ts";
import { postSigned, webhookSecret } from "./post-signed.ts";

/** Where `apply` and its like write to. */
export interface PlaceOptions {
  readonly store?: string;
  readonly source: string;
}

/** A source's configuration, with history. */
export interface ConfigPlace {
  readonly configs: LedgerConfigStore;
  /** Hands what was written to the compiler: what it reads is the newest version when this resolves. */
  publish(): Promise<void>;
}

export function addPlaceOptions(command: Command): Command {
  return command
    .option(
      "--store <place>",
      "a folder, s3://bucket/prefix, or the URL of a compile function (default: $PORTOLAN_STORE)",
    )
    .option("--source <name>", "the source to write to", "operators");
}

/** @throws PortolanError when no store is named, or an endpoint without its secret */
export async function openPlace(options: PlaceOptions): Promise<ConfigPlace> {
  const place = options.store ?? process.env.PORTOLAN_STORE ?? "";
  if (place === "") throw new PortolanError("no store: give --store, or set PORTOLAN_STORE");
  const { objects, published } = await openObjects(place);
  const prefix = `sources/${encodeKeyPart(options.source)}/ledger`;
  const configs = createLedgerStore(objects, { prefix, author: actorName(), now: Date.now });
  return {
    configs,
    async publish() {
      // Somebody may write in between; whoever comes last sees the newest head, and hands that on.
      for (let written: string | undefined; ; ) {
        const { version, files } = await ledgerFiles(objects, prefix);
        if (version === written) break;
        await writeShard(objects, options.source, files);
        written = version;
      }
      await published();
    },
  };
}

interface OpenedObjects {
  readonly objects: ObjectStore;
  /** Says that a source has changed to a compiler that does not look by itself. */
  published(): Promise<void>;
}

async function openObjects(place: string): Promise<OpenedObjects> {
  if (/^https?:\/\//.test(place)) return openEndpoint(place.replace(/\/$/, ""), webhookSecret());
  const published = async () => {};
  const bucket = /^s3:\/\/([^/]+)\/?(.*)$/.exec(place);
  if (bucket === null) {
    if (/^[a-z0-9]+:\/\//.test(place)) throw new PortolanError(`a store of the kind ${place} is not known`);
    return { objects: fileStore(place), published };
  }
  // The SDK is large, and only needed for buckets.
  const [{ S3Client }, { s3Store }] = await Promise.all([import("@aws-sdk/client-s3"), import("../storage/s3.ts")]);
  const endpoint = process.env.PORTOLAN_S3_ENDPOINT;
  const client = new S3Client(endpoint === undefined ? {} : { endpoint, forcePathStyle: true });
  const prefix = (bucket[2] ?? "").replace(/\/$/, "");
  return { objects: s3Store({ client, bucket: bucket[1] ?? "", prefix }), published };
}

function openEndpoint(url: string, secret: string): OpenedObjects {
  return {
    objects: httpStore({ url: `${url}/objects`, authorize: objectSigner(secret) }),
    async published() {
      await postSigned(url, "/hooks/recompile", "", secret);
    },
  };
}
