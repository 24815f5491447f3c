import { type Blob, jsonBlob, madeBlob } from "../../base/blob.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import { type CompiledLegacy, documentsOf } from "../../legacy/compiled-legacy.ts";
import type { BlobGroup } from "../blob-groups.ts";
import type { CompiledList, CompiledWorld } from "../compiled.ts";
import { chunkedV1Format, rootFormat } from "../format.ts";
import { memoizeChunks } from "../memoize/memoize-chunks.ts";
import { memoizeEach } from "../memoize/memoize-each.ts";
import { memoizePairs } from "../memoize/memoize-pairs.ts";
import { createNodeIndexEncoder, type NodeIndex } from "../nodes/node-index.ts";
import { extraTypes, mapTypes, type OfTypes, type ResourceType } from "../resource-type.ts";
import { type ReuseRecord, recordOf } from "../reuse/reuse-record.ts";
import type { Root, StoredRoot } from "../root.ts";
import { namedBundles } from "../trust-bundle.ts";
import { createColumns, type WorldColumns } from "./columns.ts";
import { createClassesEncoder } from "./encode-classes.ts";
import { createTableEncoder, type EncodedTable, type TableEncoder } from "./encode-table.ts";
import { createTreeEncoder, type EncodedRun, uniteNames, versionOfTree } from "./encode-tree.ts";

/**
 * A root and all blobs that it reaches, the big ones made when they are asked for: the root's own, and groups of the others, which worlds
 * share as far as they are alike.
 */
export interface EncodedWorld extends BlobGroup {
  readonly root: Root;
  readonly rootBlob: Blob;
  readonly tables: OfTypes<EncodedTable>;
}

/** Puts compiled worlds into their stored form. Equal worlds give equal bytes. */
export interface WorldEncoder {
  encode(world: CompiledWorld): EncodedWorld;
  /** The version that a list has as a tree. */
  versionOf(list: CompiledList): string;
  /** What a list comes to, in every world that has it: as it is shared with other lists. @param tell as `TreeEncoder` has it */
  runsOf(list: CompiledList, tell?: (blob: Blob) => void): readonly EncodedRun[];
  readonly columns: WorldColumns;
}

/** Remembers lists, parts, tables and the index of nodes by identity; forgetting never changes a result. */
export function createWorldEncoder(): WorldEncoder {
  const encodeTree = createTreeEncoder();
  const versions = memoizeEach((list: CompiledList) => ({ version: versionOfTree(encodeTree(list)) }));
  const columns = createColumns();
  const tableEncoder = () => createTableEncoder(encodeTree, columns);
  const encoders: Encoders = {
    columns,
    tables: {
      clusters: tableEncoder(),
      endpoints: tableEncoder(),
      extension_configs: tableEncoder(),
      listeners: tableEncoder(),
      routes: tableEncoder(),
      name_tables: tableEncoder(),
    },
    classes: createClassesEncoder(),
    nodes: memoizeEach(createNodesEncoder()),
    json: memoizeEach(jsonBlob),
    list: memoizeChunks(jsonBlob),
    texts: memoizeEach(encodeTexts),
    isChunked: memoizeEach((index) => documentsOf(index).some(({ composition }) => composition !== undefined)),
    secretsOfClasses: memoizePairs(secretsOfClasses),
    secretsByPart: memoizePairs(secretsByPart),
  };
  return {
    encode: (world) => encodeWorld(world, encoders),
    versionOf: (list) => versions(list).version,
    runsOf: (list, tell) => encodeTree(list, tell).runs,
    columns: encoders.columns,
  };
}

/** What parts of a world are encoded by, each of which remembers what it has made. */
interface Encoders {
  readonly columns: WorldColumns;
  readonly tables: Readonly<Record<ResourceType, TableEncoder>>;
  readonly classes: ReturnType<typeof createClassesEncoder>;
  readonly nodes: ReturnType<typeof createNodesEncoder>;
  readonly json: typeof jsonBlob;
  /** By the elements. */
  readonly list: (list: readonly object[]) => Blob;
  readonly texts: typeof encodeTexts;
  /** Whether documents of the v1 API are in chunks. */
  readonly isChunked: (index: CompiledLegacy["index"]) => boolean;
  readonly secretsOfClasses: typeof secretsOfClasses;
  readonly secretsByPart: typeof secretsByPart;
}

function encodeWorld(world: CompiledWorld, encode: Encoders): EncodedWorld {
  const columns = encode.columns.of(world);
  const tableOf = (type: ResourceType): EncodedTable => encode.tables[type](columns[type]);
  const [clusters, listeners] = [tableOf("clusters"), tableOf("listeners")];
  // Where nobody has any, snapshots are what they were before there was such a type.
  const extras = extraTypes.filter((type) => columns[type].some(({ length }) => length > 0));
  const tables = {
    clusters,
    endpoints: tableOf("endpoints"),
    listeners,
    routes: tableOf("routes"),
    ...Object.fromEntries(extras.map((type) => [type, tableOf(type)])),
  };
  const classes = encode.classes({
    ids: world.classes.map(({ id }) => id),
    indexes: mapTypes<EncodedTable, readonly number[]>(tables, ({ indexes }) => indexes),
    secrets: encode.secretsOfClasses(clusters.secrets, listeners.secrets),
  });
  const { refs, list, ...nodes } = encode.nodes(world.nodes);
  const classifier = encode.json(world.classifier);
  const diagnostics = encode.list(world.diagnostics);
  const legacy = world.legacy === undefined ? undefined : encode.json(world.legacy.index);
  const statuses = world.statuses === undefined ? undefined : encode.json(world.statuses);
  const lookups = world.lookups === undefined ? undefined : encode.json(world.lookups);
  const named = world.trustBundles && namedBundles(world.trustBundles, [clusters, listeners].flatMap(namesInTable));
  const bundles = named && encode.json(named);
  const reuseBlob =
    world.made === undefined ? undefined : jsonBlob(recordOf(world.made, encode.secretsByPart(clusters, listeners)));
  const stored: StoredRoot = {
    format: world.legacy !== undefined && encode.isChunked(world.legacy.index) ? chunkedV1Format : rootFormat,
    compiler: world.compiler,
    sources: world.sources.map(({ name, version, configuration }) => ({
      name,
      version,
      ...(configuration === undefined ? {} : { configuration }),
    })),
    tables: mapTypes<EncodedTable, string>(tables, ({ hash }) => hash),
    classes: classes.hash,
    classifier: classifier.hash,
    ...(list === undefined ? { nodes: refs } : { nodeList: list }),
    diagnostics: diagnostics.hash,
    ...(legacy === undefined ? {} : { legacy: legacy.hash }),
    ...(statuses === undefined ? {} : { statuses: statuses.hash }),
    ...(world.secretGrants === undefined ? {} : { secretGrants: world.secretGrants }),
    ...(lookups === undefined ? {} : { lookups: lookups.hash }),
    ...(bundles === undefined ? {} : { trustBundles: bundles.hash }),
    ...(reuseBlob === undefined ? {} : { standing: reuseBlob.hash }),
    ...(world.configuration === undefined ? {} : { configuration: world.configuration }),
    ...(world.release === undefined ? {} : { release: world.release }),
  };
  const rootBlob = jsonBlob(stored);
  const small = [classes, classifier, diagnostics, legacy, statuses, lookups, bundles, reuseBlob].filter(
    (blob) => blob !== undefined,
  );
  const texts = world.legacy === undefined ? [] : [encode.texts(world.legacy.texts)];
  const groups = [groupOf(small), nodes, ...texts, ...Object.values<EncodedTable>(tables)];
  return { root: { ...stored, nodes: refs }, rootBlob, tables, blobs: [madeBlob(rootBlob)], groups };
}

const namesInTable = ({ secrets }: EncodedTable): readonly string[] => secrets.flat();

const groupOf = (blobs: readonly Blob[]): BlobGroup => ({ blobs: blobs.map(madeBlob), groups: [] });

function createNodesEncoder(): (nodes: CompiledWorld["nodes"]) => BlobGroup & Omit<NodeIndex, "blobs"> {
  const encode = createNodeIndexEncoder();
  return (nodes) => {
    const { blobs, ...index } = encode(nodes);
    return { ...index, ...groupOf(blobs) };
  };
}

const encodeTexts = (texts: CompiledLegacy["texts"]): BlobGroup => ({
  blobs: Object.entries(texts).map(([hash, text]) => ({ hash, make: () => new TextEncoder().encode(text) })),
  groups: [],
});

/** The parts that name secrets: few do, and of two tables a change has as a rule one. */
const naming = memoizeEach(({ groups }: EncodedTable) => groups.filter(({ secrets }) => secrets.length > 0));

/** Names of secrets by the keys of the parts that name some, sorted by key. */
function secretsByPart(clusters: EncodedTable, listeners: EncodedTable): ReuseRecord["secrets"] {
  const entries = [...naming(clusters), ...naming(listeners)].map(({ key, secrets }) => [key, secrets] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => byCodePoint(a, b)));
}

/**
 * Of each class the names of the secrets that its listeners and clusters name, in either shape; sorted.
 *
 * @param clusters names of each list, as tables have them
 */
function secretsOfClasses(clusters: SecretsOfLists, listeners: SecretsOfLists): SecretsOfLists {
  const inClass = (lists: SecretsOfLists, row: number) => lists.slice(2 * row, 2 * row + 2);
  return Array.from({ length: clusters.length / 2 }, (_class, row) =>
    uniteNames([...inClass(clusters, row), ...inClass(listeners, row)]),
  );
}

type SecretsOfLists = EncodedTable["secrets"];
