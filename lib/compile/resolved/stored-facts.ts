import { readFolderSettings } from "../../config/folder/read-folder-settings.ts";
import { type ResolvedFacts, resolvedSource } from "../../config/kinds/resolved-facts.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readShard } from "../shards/read-shard.ts";

/** The one file of the resolver's source. */
export const factsFile = "portolan.yaml";

/** The resolver's source, with the text of its file; undefined where it was never filled, or cannot be read. */
export async function storedText(
  store: ObjectStore,
): Promise<{ readonly version: string; readonly text: string | undefined } | undefined> {
  const shard = await readShard(store, resolvedSource).catch(() => undefined);
  return shard && { version: shard.version, text: shard.files.length === 1 ? shard.files[0]?.text : undefined };
}

/** The facts in the source; none where it cannot be read. */
export async function storedFacts(store: ObjectStore): Promise<ResolvedFacts> {
  const { text } = (await storedText(store)) ?? {};
  return text === undefined ? {} : (readFolderSettings(text, factsFile).value.resolved ?? {});
}
