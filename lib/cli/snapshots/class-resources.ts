import { isIP } from "node:net";
import { parseNodeId } from "../../base/classifier.ts";
import { byCodePoint, PortolanError } from "../../base/diagnostic.ts";
import { meantText } from "../../config/nearest-names.ts";
import { placeNamed } from "../../front/nodes/place-node.ts";
import { nodesIn } from "../../snapshot/nodes/node-index.ts";
import { namedNodes, namespaceOfName } from "../../snapshot/nodes/node-names.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { type ResourceType, resourceTypes, type ShapeName } from "../../snapshot/resource-type.ts";
import type { NodeShard } from "../../snapshot/root.ts";
import { wholeText } from "../../snapshot/whole-text.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { StoredResource } from "../../xds/explain/explain-resource.ts";

/** A node as a root places it. */
export interface PlacedNode {
  readonly classId: string;
  /** Type and namespace whose default class it is; absent for a class of its own. */
  readonly byDefault?: string;
  /** "" where its name says none. */
  readonly namespace: string;
}

/**
 * The class of a node.
 *
 * @param node `pod.namespace`, `pod.namespace@cluster`, an address, a node id, or the id of a class
 * @throws PortolanError with the nearest names where there is none
 */
export async function placedNode(reader: SnapshotReader, loaded: LoadedRoot, node: string): Promise<PlacedNode> {
  const namespace = namespaceOfName(parseNodeId(node)?.name ?? node);
  if (loaded.classes.has(node)) return { classId: node, namespace: "" };
  const placement = await placeNamed(reader, loaded, node);
  if (placement.kind === "placed") {
    const { classId, byDefault } = placement;
    return { classId, namespace, ...(byDefault === undefined ? {} : { byDefault }) };
  }
  const names = await nodeNames(reader, loaded);
  const meant = meantText(node, [...names, ...loaded.classes.keys()]) || someOf(names, [...loaded.classes.keys()]);
  throw new PortolanError(
    `there is no node "${node.slice(0, 200)}", as pod.namespace, an address, a node id or a class${meant}`,
  );
}

const maxSome = 3;

/** A few of those that there are, for who has named nothing that is near one. */
function someOf(nodes: readonly string[], classes: readonly string[]): string {
  const isNamed = nodes.length > 0;
  // Names first: nobody thinks of a workload by its address.
  const all = [...(isNamed ? nodes : classes)].sort((a, b) => isIP(a) - isIP(b) || byCodePoint(a, b));
  const shown = all.slice(0, maxSome).join(", ");
  const more = all.length > maxSome ? ` and ${all.length - maxSome} more` : "";
  if (all.length === 0) return "; this version has no proxies: `portolan status` shows what is served";
  return `; this version has the ${isNamed ? "nodes" : "classes"} ${shown}${more}`;
}

/** How the nodes that a root knows may call themselves, with their classes; `name@cluster` where several clusters have one. */
export async function nodeClasses(reader: SnapshotReader, loaded: LoadedRoot): Promise<ReadonlyMap<string, string>> {
  const shards = await Promise.all(
    loaded.root.nodes.map(async ({ hash }) => {
      // A blob's name vouches for its content.
      const shard: NodeShard = JSON.parse(await reader.text(hash));
      return namedNodes(nodesIn(shard));
    }),
  );
  return new Map(shards.flat().map(({ name, classId }) => [name, classId]));
}

/** The namespaces that the nodes of each class run in, by the class's id. */
export async function nodeNamespaces(
  reader: SnapshotReader,
  loaded: LoadedRoot,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const namespaces = new Map<string, Set<string>>();
  for (const [name, classId] of await nodeClasses(reader, loaded)) {
    const namespace = namespaceOfName(name);
    if (namespace !== "") namespaces.set(classId, (namespaces.get(classId) ?? new Set()).add(namespace));
  }
  return namespaces;
}

const nodeNames = async (reader: SnapshotReader, loaded: LoadedRoot): Promise<readonly string[]> =>
  [...(await nodeClasses(reader, loaded)).keys()].filter((key) => !key.includes("/"));

/** Which answer of a class. */
export interface ClassAnswer {
  readonly classId: string;
  readonly shape: ShapeName;
}

/**
 * The resources of a class that have a name: `80`, or `routes/80` where several types have one.
 *
 * @throws PortolanError with the nearest names where there is none
 */
export async function resourcesNamed(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  answer: ClassAnswer,
  written: string,
): Promise<readonly StoredResource[]> {
  const { only, name } = splitType(written);
  const found: StoredResource[] = [];
  const known: string[] = [];
  for (const type of resourceTypes) {
    if (only !== undefined && only !== type) continue;
    for (const { name: itsName, read } of await spansOf(reader, loaded, answer, type)) {
      known.push(only === undefined ? itsName : `${type}/${itsName}`);
      if (itsName === name) found.push(await read());
    }
  }
  if (found.length > 0) return found;
  const meant = meantText(written, known) || `; \`portolan proxy-config all ${answer.classId}\` lists what it has`;
  throw new PortolanError(
    `class ${answer.classId} has no resource "${written.slice(0, 200)}" in the ${answer.shape} shape${meant}`,
  );
}

/** All resources of a class, of some types. */
export async function resourcesOf(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  answer: ClassAnswer,
  types: readonly ResourceType[] = resourceTypes,
): Promise<readonly StoredResource[]> {
  const found = await Promise.all(types.map((type) => spansOf(reader, loaded, answer, type)));
  return inParallel(found.flat(), ({ read }) => read());
}

/** A resource whose text is read when it is asked for. */
interface Span {
  readonly name: string;
  read(): Promise<StoredResource>;
}

async function spansOf(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  answer: ClassAnswer,
  type: ResourceType,
): Promise<readonly Span[]> {
  const spans: Span[] = [];
  for (const segment of await segmentsOf(reader, loaded, answer, type)) {
    for (const { name, version, from } of (await reader.entries(segment)).values()) {
      const read = async () => ({ type, name, version, from, text: await wholeText(reader.texts(segment, name)) });
      spans.push({ name, read });
    }
  }
  return spans;
}

/** A name may hold slashes itself, as that of a unix socket does. */
function splitType(written: string): { readonly only: ResourceType | undefined; readonly name: string } {
  const only = resourceTypes.find((type) => written.startsWith(`${type}/`));
  return { only, name: only === undefined ? written : written.slice(only.length + 1) };
}

async function segmentsOf(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  { classId, shape }: ClassAnswer,
  type: ResourceType,
) {
  const proxyClass = loaded.classes.get(classId);
  if (proxyClass === undefined) return [];
  return (await reader.tree(loaded.root, type, proxyClass[shape][type])).segments;
}
