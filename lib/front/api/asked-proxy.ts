import { parseNodeId } from "../../base/classifier.ts";
import { readQualified } from "../../snapshot/nodes/node-names.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import { shown } from "../excess.ts";
import { classFor, rootFor, type ServedNode } from "../nodes/in-force.ts";
import type { NodeStatus } from "../nodes/node-watch.ts";
import { type Answered, type Asked, found, refused } from "./asked.ts";
import { type Browser, browsed, nothingPublished } from "./browsed.ts";

/** Nodes that are looked through for one of a name. */
const maxNodes = 1_000;

/** Whose resources are asked for, and in which version. */
interface AskedProxy {
  readonly loaded: LoadedRoot;
  /** Of a class; "" where the query names neither a class nor a node. */
  readonly id: string;
}

/** A class by its id, or that of a node, in the version that is in force for this one unless the query names another. */
export async function askedProxy(browser: Browser, asked: Asked): Promise<Answered<AskedProxy>> {
  const [id = "", node = ""] = [asked.value("class"), asked.value("node")];
  if (id !== "" && node !== "") return refused(400, "class or node: one of them is meant");
  const known = node === "" ? undefined : await knownNode(browser, node);
  const isNamed = known === undefined || (asked.value("root") ?? "") !== "";
  const version = isNamed ? await browsed(browser, asked) : await inForceFor(browser, known);
  if (version.kind === "refused") return version;
  const loaded = version.value;
  if (known === undefined) return found({ loaded, id });
  const classId = loaded.classes.has(node) ? node : await classFor(browser.reader, loaded, known);
  return classId === undefined
    ? refused(404, `there is no node or class "${shown(node)}" in this version`)
    : found({ loaded, id: classId });
}

async function inForceFor({ heads, reader }: Browser, node: ServedNode): Promise<Answered<LoadedRoot>> {
  const head = await heads.current();
  if (head === undefined) return nothingPublished;
  return found(await reader.root(rootFor({ head, nowMs: heads.timeMs() }, node)));
}

/** What this front knows of a node, by its id, its name or its address, with or without its cluster; of another one no more than that. */
async function knownNode({ nodes }: Browser, node: string): Promise<ServedNode> {
  const { key, clusterId } = readQualified(node) ?? { key: node };
  const report = await nodes.report?.({ part: key, limit: maxNodes });
  const isMeant = ({ node: id, cluster }: NodeStatus) => {
    const names = [id, parseNodeId(id)?.name, parseNodeId(id)?.address];
    return names.includes(node) || (names.includes(key) && cluster === clusterId);
  };
  const [found, ...others] = report?.nodes.filter(isMeant) ?? [];
  // Of nodes in several clusters that have one name none is meant more than another.
  if (found !== undefined && others.every(({ cluster }) => cluster === found.cluster)) return found;
  // What stands after the @ of an id is a cluster; another name may have an @ of its own.
  const isId = clusterId !== undefined && parseNodeId(key) !== undefined;
  return isId ? { node: key, cluster: clusterId } : { node };
}
