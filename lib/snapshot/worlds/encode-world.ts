import { byCodePoint } from "../../config/diagnostic.ts";
import { type Blob, jsonBlob, type LazyBlob } from "../blob.ts";
import { type CompiledClass, type CompiledList, type CompiledWorld, listIn } from "../compiled.ts";
import { rootFormat } from "../format.ts";
import { encodeNodeIndex, type NodeIndex } from "../node-index.ts";
import { rememberEach } from "../remember-each.ts";
import { type ExtraType, extraTypes, type OfTypes, type ShapeName, shapes } from "../resource-type.ts";
import type { ClassTable, Root, Shape } from "../root.ts";
import { recordOf } from "../standing/standing-record.ts";
import { buildTable, createTableEncoder, type EncodedTable, type TableOf } from "./encode-table.ts";
import { createTreeEncoder, type TreeEncoder } from "./encode-tree.ts";

/** A root and all blobs that it reaches; the big ones are made when they are asked for. */
export interface EncodedWorld {
  readonly root: Root;
  readonly rootBlob: Blob;
  readonly tables: OfTypes<EncodedTable>;
  /** Every blob but the root's own, each once. */
  blobs(): Iterable<LazyBlob>;
}

/** Puts compiled worlds into their stored form. Equal worlds give equal bytes. */
export interface WorldEncoder {
  encode(world: CompiledWorld): EncodedWorld;
  /** The version that a list has as a tree. */
  versionOf(list: CompiledList): string;
}

/** Remembers lists, parts and the index of nodes by identity, for as long as they live; forgetting never changes a result. */
export function createWorldEncoder(): WorldEncoder {
  const encodeTree = createTreeEncoder();
  const tableOf = createTableEncoder();
  const encodeNodes = rememberEach(encodeNodeIndex);
  return {
    encode: (world) => encodeWorld(world, { encodeTree, tableOf, nodes: encodeNodes(world.nodes) }),
    versionOf: (list) => encodeTree(list).version,
  };
}

interface WorldEncoding {
  readonly encodeTree: TreeEncoder;
  readonly tableOf: TableOf;
  readonly nodes: NodeIndex;
}

function encodeWorld(world: CompiledWorld, { encodeTree, tableOf, nodes }: WorldEncoding): EncodedWorld {
  const builder = () => buildTable(encodeTree, tableOf);
  const builders = { clusters: builder(), endpoints: builder(), listeners: builder(), routes: builder() };
  // Where nobody has any, snapshots are what they were before there was such a type.
  const extras = extraTypes
    .filter((type) => world.classes.some((one) => shapes.some((shape) => listIn(one[shape], type).length > 0)))
    .map((type) => ({ type, builder: builder() }));
  const ofExtras = <T>(make: (extra: (typeof extras)[number]) => T): Partial<Record<ExtraType, T>> =>
    Object.fromEntries(extras.map((extra) => [extra.type, make(extra)]));
  const shapeOf = (compiled: CompiledWorld["classes"][number], shape: ShapeName): Shape => {
    const lists = compiled[shape];
    return {
      clusters: builders.clusters.indexOf(lists.clusters),
      endpoints: builders.endpoints.indexOf(lists.endpoints),
      listeners: builders.listeners.indexOf(lists.listeners),
      routes: builders.routes.indexOf(lists.routes),
      ...ofExtras(({ type, builder }) => builder.indexOf(listIn(lists, type))),
    };
  };

  const table: ClassTable = {
    classes: world.classes.map((compiled) => {
      const secrets = secretsOf(compiled, encodeTree);
      return {
        id: compiled.id,
        stream: shapeOf(compiled, "stream"),
        poll: shapeOf(compiled, "poll"),
        ...(secrets.length === 0 ? {} : { secrets }),
      };
    }),
  };
  const classes = jsonBlob(table);
  const classifier = jsonBlob(world.classifier);
  const diagnostics = jsonBlob(world.diagnostics);
  const legacy = world.legacy === undefined ? undefined : jsonBlob(world.legacy.index);
  const statuses = world.statuses === undefined ? undefined : jsonBlob(world.statuses);
  const tables = {
    clusters: builders.clusters.finish(),
    endpoints: builders.endpoints.finish(),
    listeners: builders.listeners.finish(),
    routes: builders.routes.finish(),
    ...ofExtras(({ builder }) => builder.finish()),
  };
  const standing = world.made === undefined ? undefined : jsonBlob(recordOf(world.made, secretsByPart(tables)));
  const root: Root = {
    format: rootFormat,
    compiler: world.compiler,
    sources: world.sources.map(({ name, version }) => ({ name, version })),
    tables: {
      clusters: tables.clusters.blob.hash,
      endpoints: tables.endpoints.blob.hash,
      listeners: tables.listeners.blob.hash,
      routes: tables.routes.blob.hash,
      ...ofExtras(({ type }) => tables[type]?.blob.hash ?? ""),
    },
    classes: classes.hash,
    classifier: classifier.hash,
    nodes: nodes.refs,
    diagnostics: diagnostics.hash,
    ...(legacy === undefined ? {} : { legacy: legacy.hash }),
    ...(statuses === undefined ? {} : { statuses: statuses.hash }),
    ...(world.secretGrants === undefined ? {} : { secretGrants: world.secretGrants }),
    ...(standing === undefined ? {} : { standing: standing.hash }),
  };

  return {
    root,
    rootBlob: jsonBlob(root),
    tables,
    *blobs() {
      const seen = new Set<string>();
      const parts = Object.values(tables).flatMap((table) => table.parts);
      const ofTables = Object.values(tables).flatMap(({ blob, lists }) => [blob, ...lists]);
      const lists = [...ofTables, ...parts.map(({ blob }) => blob)];
      const all = [classes, classifier, diagnostics, ...nodes.blobs, legacy, statuses, standing, ...lists];
      const small = all.filter((blob) => blob !== undefined);
      for (const [hash, text] of Object.entries(world.legacy?.texts ?? {})) {
        if (!seen.has(hash)) yield { hash, make: () => new TextEncoder().encode(text) };
        seen.add(hash);
      }
      for (const { hash, bytes } of small) {
        if (!seen.has(hash)) yield { hash, make: () => bytes };
        seen.add(hash);
      }
      for (const blob of parts.flatMap(({ segments }) => segments).flatMap((segment) => segment.blobs)) {
        if (!seen.has(blob.hash)) yield blob;
        seen.add(blob.hash);
      }
    },
  };
}

/** Names of secrets by the keys of the parts that name some, sorted by key. */
function secretsByPart({ clusters, listeners }: EncodedWorld["tables"]): Readonly<Record<string, readonly string[]>> {
  const naming = [...clusters.parts, ...listeners.parts].filter(({ secrets }) => secrets.length > 0);
  const entries = naming.map(({ key, secrets }) => [key, secrets] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => byCodePoint(a, b)));
}

const noNames: readonly string[] = [];

/** Names of the secrets that a class's listeners and clusters name, in either shape; sorted. */
function secretsOf(compiled: CompiledClass, encodeTree: TreeEncoder): readonly string[] {
  const names = new Set<string>();
  for (const shape of shapes) {
    for (const list of [compiled[shape].listeners, compiled[shape].clusters]) {
      for (const name of encodeTree(list).secrets) names.add(name);
    }
  }
  return names.size === 0 ? noNames : [...names].sort(byCodePoint);
}
