import { PortolanError } from "../../base/diagnostic.ts";
import { objectsOfShards, shardsOfRoot } from "../../compile/explain/root-objects.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ResourceType, ShapeName } from "../../snapshot/resource-type.ts";
import { type NodeResources, nodeResources } from "../../trace/node-resources.ts";
import type { StoredResource } from "../../xds/explain/explain-resource.ts";
import { openThere } from "../named-store.ts";
import { placedNode, resourcesOf } from "../snapshots/class-resources.ts";
import { rootNamed } from "../snapshots/root-named.ts";
import type { Terminal } from "../terminal.ts";
import { compiledFolder } from "./compiled-folder.ts";
import { frontSource } from "./front-source.ts";
import type { NodeSource } from "./proxy-resources.ts";

/** Where what a node has is read from. */
export interface SourceOptions {
  readonly store?: string;
  /** A folder, compiled for this. */
  readonly dir?: string;
  /** A front, asked for what it serves. */
  readonly server?: string;
  /** Of an operator's token for it. */
  readonly tokenFile?: string;
  /** As `rootNames` says. */
  readonly root: string;
  readonly shape: ShapeName;
}

/**
 * What a store, a folder or a front has for a node.
 *
 * @param node `pod.namespace`, an address, a node id, or the id of a class
 * @param types those that are wanted; all by default
 * @throws PortolanError where there is no such node
 */
export async function nodeSource(
  options: SourceOptions,
  node: string,
  terminal: Terminal,
  types?: readonly ResourceType[],
): Promise<NodeSource> {
  const { dir, server, shape } = options;
  if (server !== undefined) return frontSource({ ...options, server, types }, node);
  const store =
    dir === undefined ? await openThere(options.store, terminal.progress) : await compiledFolder(dir, terminal);
  const reader = createSnapshotReader(store);
  const root = await rootNamed(store, options.root, reader);
  const loaded = await reader.root(root);
  const { classId, byDefault, namespace } = await placedNode(reader, loaded, node);
  const resources = await resourcesOf(reader, loaded, { classId, shape }, types);
  const objects = await shardsOfRoot(store, loaded.root.sources)
    .then(objectsOfShards)
    .catch((cause: unknown) => {
      if (!(cause instanceof PortolanError)) throw cause;
      terminal.err(`${cause.message}; objects are named without file and line`);
      return objectsOfShards([]);
    });
  const why = byDefault === undefined ? "" : ` (the default of ${byDefault}: this node has none of its own)`;
  return { title: `class ${classId}${why}, root ${root.slice(0, 12)}`, resources, unread: [], objects, namespace };
}

export function resourcesFor(resources: readonly StoredResource[]): NodeResources {
  const texts = (type: StoredResource["type"]) => resources.filter((one) => one.type === type).map(({ text }) => text);
  return nodeResources({
    listeners: texts("listeners"),
    routes: texts("routes"),
    clusters: texts("clusters"),
    endpoints: texts("endpoints"),
    nameTables: texts("name_tables"),
  });
}
