import { PortolanError } from "../../base/diagnostic.ts";
import { sha256 } from "../../config/canonical-json.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readHeadOf } from "../collected/collected-shard.ts";
import { checkList } from "../shards/check-source.ts";
import { namedBySources } from "../shards/collect-sources.ts";
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

/**
 * How many bytes the texts of all sources have, without those of earlier versions. Only where the store holds more than `enough` bytes of
 * them is looked which these are.
 */
export async function sourceBytes(store: ObjectStore, enough = 0): Promise<number> {
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list("sources/"))
    if (/^sources\/[^/]+\/(?:files|nodes)\//.test(key)) sizes.set(key, sizeBytes);
  const all = sumOf(sizes.values());
  if (all <= enough) return all;
  const isNamed = await namedBySources(store, []);
  return sumOf([...sizes].flatMap(([key, bytes]) => (isNamed(key) ? [bytes] : [])));
}

const sumOf = (numbers: Iterable<number>): number => [...numbers].reduce((sum, number) => sum + number, 0);
