import { sha256 } from "../../config/canonical-json.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readHeadOf } from "../collected/collected-shard.ts";
import { checkList } from "../shards/check-source.ts";
import { orderedSources } from "../shards/read-sources.ts";
import { refuseDisplaced } from "../shards/source-parts.ts";
import { listKey, versionKey } from "../shards/source-shard.ts";
import { type Keeping, versionInstead } from "../shards/unreadable-source.ts";
import { checkCollected } from "./check-collected.ts";

/**
 * Which versions the sources are to be compiled at, in the order in which they are compiled. Of each source its list or head is read; of
 * one that is another than was published last also whether all that it names is there, since whoever compiles a slice of it can keep no other.
 *
 * @param keeping what to do with a source that cannot be read
 */
export async function sourceVersions(
  store: ObjectStore,
  order: readonly string[],
  keeping: Keeping,
): Promise<readonly CompiledSource[]> {
  const names = await orderedSources(store, order);
  const found = await Promise.all(
    names.map((name) =>
      versionNow(store, name, keeping).catch((cause: unknown) => versionInstead(name, cause, keeping)),
    ),
  );
  return names.flatMap((name, at) => {
    const version = found[at];
    return version === undefined ? [] : [{ name, version }];
  });
}

/** @returns undefined for a source that nobody has filled @throws UnreadableSource */
async function versionNow(store: ObjectStore, name: string, keeping: Keeping): Promise<string | undefined> {
  const list = await store.get(listKey(name));
  const text = list.kind === "found" ? new TextDecoder().decode(list.bytes) : (await readHeadOf(store, name))?.text;
  if (text === undefined) {
    await refuseDisplaced(store, name);
    return undefined;
  }
  const version = sha256(text);
  const published = await publishedVersion(name, keeping);
  if (version === published) return version;
  const earlier = published === undefined ? undefined : await store.get(versionKey(name, published));
  const before = earlier?.kind === "found" ? new TextDecoder().decode(earlier.bytes) : undefined;
  if (list.kind === "found") await checkList(store, { name, text, before });
  else await checkCollected(store, { name, text, before });
  return version;
}

/** @returns undefined also where the newest root cannot be read, which this publish mends: then all that the source names is looked at */
async function publishedVersion(name: string, { published }: Keeping): Promise<string | undefined> {
  try {
    return (await published()).get(name);
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return undefined;
  }
}

/** About how many bytes the sources of a store are, with what they were before: what is kept of them is listed, not read. */
export async function sourceBytes(store: ObjectStore): Promise<number> {
  let bytes = 0;
  for await (const { key, sizeBytes } of store.list("sources/"))
    if (/^sources\/[^/]+\/(?:files|nodes)\//.test(key)) bytes += sizeBytes;
  return bytes;
}
