import {
  accountKey,
  accountMember,
  buildFor,
  clusterMember,
  defaultKey,
  type NodeClaims,
  own,
  parseNodeId,
  project,
  textOf,
} from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { isIstioClass } from "../../base/proxy-build.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { Root } from "../../snapshot/root.ts";

/**
 * Classes that a front may find for a node, the likeliest first: by its projection, by its names in the node index, the default of its
 * type and namespace. Which of the ways a front goes depends on what the node has
 * proven to it, and of the node index it shows what it looks at itself: a name that cannot be looked up leads nowhere.
 */
export async function classesFor(
  reader: SnapshotReader,
  { root, classifier, classes }: LoadedRoot,
  claims: NodeClaims,
): Promise<readonly string[]> {
  const projection = project(classifier, claims);
  const nodeId = parseNodeId(claims.id);
  const account = textOf(claims.metadata[accountMember]);
  const name = nodeId?.name ?? claims.id;
  // Where the node says no cluster, a front may know one that was proven.
  const clusterId = textOf(claims.metadata[clusterMember]) || undefined;
  const keys = [
    ...(nodeId === undefined ? [claims.id, claims.cluster] : [nodeId.name, nodeId.address]),
    ...(account === "" ? [] : [accountKey(account, name)]),
  ].filter((key) => key !== "");
  const projected = projection === undefined ? undefined : own(classifier.classes, projection);
  // A front may know of an account that the node does not name; else whoever has a class of his own gets no default.
  const isSure = account !== "" || !classifier.attributes.includes(`metadata:${accountMember}`);
  const hasOwn = isSure && projected !== undefined && classes.has(projected);
  const fallback = hasOwn ? undefined : defaultKey(claims);
  const found = [
    projected,
    ...(await Promise.all(keys.map((key) => classesByName(reader, root, key, clusterId)))).flat(),
    fallback === undefined ? undefined : own(classifier.defaults, fallback),
  ];
  // As a front has it: no stock Envoy is of a class of Istio's own proxies.
  const isStock = buildFor(classifier, claims) === "envoy";
  const fits = (id: string | undefined) => id !== undefined && classes.has(id) && !(isStock && isIstioClass(id));
  return [...new Set(found)].filter(fits).map(String);
}

async function classesByName(
  reader: SnapshotReader,
  root: Root,
  key: string,
  clusterId: string | undefined,
): Promise<readonly string[]> {
  try {
    return await reader.nodeClasses(root, key, clusterId);
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return [];
  }
}
