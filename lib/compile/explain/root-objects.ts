import type { Config } from "../../config/config.ts";
import { keyText } from "../../config/diagnostic.ts";
import { locate } from "../../config/documents/locate.ts";
import { type ParsedObject, parseStream } from "../../config/documents/parse.ts";
import { stringsOf } from "../../config/untyped.ts";
import type { CompiledSource } from "../../snapshot/compiled.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { FieldPath, RootObject, RootObjects } from "../../xds/explain/root-object.ts";
import { createCollectedLoader } from "../collected/load-collected.ts";
import { createSourcesReader, isCollected, type Shard } from "../shards/read-sources.ts";
import { contentOfShard, textsOfShard } from "../shards/source-shard.ts";

/** The shards of a root as they were then, the primary first. @throws PortolanError when they are kept no more */
export const shardsOfRoot = (store: ObjectStore, sources: readonly CompiledSource[]): Promise<readonly Shard[]> =>
  createSourcesReader(store)(
    sources.map(({ name }) => name),
    sources,
  );

/** @param shards the primary first; undefined for one that is kept no more */
export function objectsOfShards(shards: readonly (Shard | undefined)[]): RootObjects {
  const texts = new Map<string, string>();
  // Of objects that were refused when the root was made: what stands in their files now is not what was compiled.
  const keptTexts = new Map<string, string>();
  const all: RootObject[] = [];
  for (const [i, shard] of shards.entries()) {
    if (shard === undefined) continue;
    const under = i === 0 ? "" : `${shard.name}/`;
    if (!isCollected(shard)) {
      const { files, kept } = textsOfShard(shard);
      for (const { file, text } of files) texts.set(under + file, text);
      for (const { key, file, text } of kept) keptTexts.set(key || under + file, text);
    }
    const { configs, objects, clusters } = isCollected(shard)
      ? createCollectedLoader()(shard).content
      : contentOfShard(shard, under);
    all.push(...configs.map(ofConfig), ...[objects, ...clusters.map((one) => one.objects)].flat().map(ofParsed));
  }
  // Of objects that several clusters have under one name the primary's comes first.
  const byKey = new Map(all.toReversed().map((object) => [object.key, object]));
  return {
    all,
    get: (key) => byKey.get(key),
    placeOf(object, path) {
      const kept = keptTexts.get(object.key) ?? keptTexts.get(object.file);
      const text = kept ?? texts.get(object.file);
      const line = text === undefined || path.length === 0 ? object.line : (lineOf(text, object, path) ?? object.line);
      const place = line > 0 ? `${object.file}:${line}` : object.file;
      return kept === undefined ? place : `${place} (as it was last valid)`;
    },
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
  return source && locate(source.document, [...source.path, ...path]).line;
}
