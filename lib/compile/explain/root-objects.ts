import { keyText } from "../../base/diagnostic.ts";
import { stringsOf } from "../../base/untyped.ts";
import type { Config } from "../../config/config.ts";
import { type ParsedObject, parseStream } from "../../config/documents/parse.ts";
import type { ClosedObject } from "../../config/fail-closed/closed-object.ts";
import { isRegistryKind } from "../../config/folder/planes.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { FieldPath, RootObject, RootObjects } from "../../xds/explain/root-object.ts";
import { createCollectedLoader } from "../collected/load-collected.ts";
import { createSourcesReader } from "../shards/read-sources.ts";
import { isCollected, isHeld, type Shard, type ShardContent } from "../shards/shard.ts";
import { filePrefixOf } from "../shards/source-names.ts";
import { contentOfShard, type SourceShard, textsOfShard } from "../shards/source-shard.ts";

/** The shards of a root as they were then, the primary first. @throws PortolanError when one of them is not in the store */
export const shardsOfRoot = (store: ObjectStore, sources: readonly CompiledSource[]): Promise<readonly Shard[]> =>
  createSourcesReader(store)(
    sources.map(({ name }) => name),
    sources,
  );

/** The text that an object was read from. */
interface ReadFrom {
  readonly text: string | undefined;
  /** Of an object that was refused when the root was made: what stands in its file now is not what was compiled. */
  readonly isEarlier: boolean;
}

/** @param shards the primary first; undefined for one that is kept no more */
export function objectsOfShards(shards: readonly (Shard | undefined)[]): RootObjects {
  const readFrom = new Map<RootObject, ReadFrom>();
  const served = new Map<string, RootObject>();
  const ofClusters: RootObject[] = [];
  const closed = new Map<string, RootObject>();
  for (const { shard, under, has } of shards.flatMap((shard, i) => partsOf(shard, i === 0))) {
    const isOfFolder = !isCollected(shard);
    const content = isOfFolder ? contentOfShard(shard, under) : createCollectedLoader()(shard).content;
    const { configs, objects, clusters } = content;
    for (const one of content.closed.filter(has).map(ofClosed)) closed.set(one.key, one);
    const textOf = isOfFolder ? textsByObject(shard, under) : () => noText;
    // Of two sources that have an object the later one counts, as when they are compiled.
    for (const object of [...configs.filter(has).map(ofConfig), ...objects.filter(has).map(ofParsed)]) {
      served.set(object.key, object);
      readFrom.set(object, textOf(object, object.key));
    }
    if (!has(anyPod)) continue;
    for (const object of clusters.flatMap((one) => one.objects).map(ofParsed)) {
      ofClusters.push(object);
      readFrom.set(object, textOf(object, ""));
    }
  }
  // Of objects that several clusters have under one name the primary's comes first.
  const byKey = new Map([...ofClusters.toReversed().map((object) => [object.key, object] as const), ...served]);
  return {
    all: [...served.values(), ...ofClusters],
    get: (key) => byKey.get(key) ?? closed.get(key),
    placeOf(object, path) {
      if (closed.get(object.key) === object) return `${object.file}:${object.line} (refused, so it fails closed)`;
      const { text, isEarlier } = readFrom.get(object) ?? noText;
      const line = text === undefined || path.length === 0 ? object.line : (lineOf(text, object, path) ?? object.line);
      const place = line > 0 ? `${object.file}:${line}` : object.file;
      return isEarlier ? `${place} (as it was last valid)` : place;
    },
  };
}

/** A version of a source, and which of its objects count. */
interface ShardPart {
  readonly shard: ShardContent;
  readonly under: string;
  readonly has: (object: Pick<Config, "origin">) => boolean;
}

function partsOf(shard: Shard | undefined, isFirst: boolean): readonly ShardPart[] {
  if (shard === undefined) return [];
  const under = filePrefixOf(shard.name, isFirst);
  if (!isHeld(shard)) return [{ shard, under, has: () => true }];
  const isOfRegistry = ({ origin: { key } }: Pick<Config, "origin">) => isRegistryKind(key.group, key.kind);
  return [
    { shard: shard.held.content, under, has: (object) => !isOfRegistry(object) },
    { shard: shard.newest, under, has: isOfRegistry },
  ];
}

/** Objects of further clusters are of the registry. */
const anyPod: Pick<Config, "origin"> = {
  origin: { key: { group: "", kind: "Pod", name: "", namespace: "" }, file: "", line: 0 },
};

const noText: ReadFrom = { text: undefined, isEarlier: false };

/** @returns of an object, and the key that its last valid form would be kept under */
function textsByObject(shard: SourceShard, under: string): (object: RootObject, key: string) => ReadFrom {
  const { files, kept } = textsOfShard(shard);
  const texts = new Map(files.map(({ file, text }) => [under + file, text]));
  // Settings and clusters are kept by the file.
  const earlier = new Map(kept.map(({ key, file, text }) => [key || under + file, text]));
  return ({ file }, key) => {
    const text = earlier.get(key || file);
    return text === undefined ? { text: texts.get(file), isEarlier: false } : { text, isEarlier: true };
  };
}

const ofConfig = (config: Config): RootObject => ({
  ...ofOrigin(config),
  kind: config.meta.kind,
  namespace: config.meta.namespace,
  name: config.meta.name,
  labels: config.meta.labels,
  spec: config.spec,
  config,
});

const ofParsed = (object: ParsedObject): RootObject => ({
  ...ofOrigin(object),
  kind: object.kind,
  namespace: object.metadata.namespace ?? "",
  name: object.metadata.name,
  labels: stringsOf(object.metadata.labels),
  spec: object.spec,
  written: object,
});

/** A refused object of which nothing is served but what closes. */
const ofClosed = (object: ClosedObject): RootObject => ({
  ...ofOrigin(object),
  kind: object.origin.key.kind,
  namespace: object.origin.key.namespace,
  name: object.origin.key.name,
  labels: {},
  spec: undefined,
});

const ofOrigin = ({ origin }: Pick<Config, "origin">) => ({
  key: keyText(origin.key),
  file: origin.file,
  line: origin.line,
});

/** The file is read anew with its positions, which is slow: for the few fields that somebody asks about. */
function lineOf(text: string, { file, line }: RootObject, path: FieldPath): number | undefined {
  const parsed = parseStream(text, { file });
  const object = parsed.value.find(({ origin }) => origin.line === line);
  const source = object && parsed.sourceOf(object);
  return source?.locator.locateAll([[...source.path, ...path]])[0]?.line;
}
