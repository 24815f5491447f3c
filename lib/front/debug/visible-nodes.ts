/** Whose state a caller may read: of an operator everybody's, of a workload that of the proxies that it could be served as. */
import { Code, ConnectError } from "@connectrpc/connect";
import { clusterMember, type NodeClaims, parseNodeId } from "../../base/classifier.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { Head } from "../../snapshot/root.ts";
import { type Caller, misfit } from "../auth/caller.ts";
import { shown } from "../excess.ts";
import type { Front } from "../front.ts";
import { classFor, rootFor } from "../nodes/in-force.ts";
import type { NodeStatus } from "../nodes/node-watch.ts";
import { placeNode } from "../nodes/place-node.ts";

/** What is read of proxies, and of what is in force for them. */
export type VisibleServices = RootServices & Pick<Front, "nodes" | "limits">;

type RootServices = Pick<Front, "browsing" | "heads">;

/** A proxy, and what is in force for it. */
export interface ServedProxy {
  readonly node: NodeStatus;
  readonly loaded: LoadedRoot;
  readonly classId: string;
}

/**
 * Proxies that this server or another of the store has heard of, as far as the caller may read of them.
 *
 * @param part of their ids; "" for all
 * @throws ConnectError where nothing is kept of proxies, or nothing was published
 */
export async function visibleNodes(
  front: VisibleServices,
  caller: Caller,
  part: string,
): Promise<readonly NodeStatus[]> {
  const seesAll = caller.kind === "operator" || caller.kind === "anyone";
  const asked = seesAll || caller.kind !== "node" ? part : part || caller.namespace;
  const report = await front.nodes.report?.({ part: asked, limit: front.limits.statusNodes });
  if (report === undefined) throw new ConnectError("this server keeps nothing of its proxies", Code.Unimplemented);
  if (seesAll) return report.nodes;
  const head = await headOf(front);
  const seen: NodeStatus[] = [];
  for (const node of report.nodes) if ((await ownClass(front, head, caller, node)) !== undefined) seen.push(node);
  return seen;
}

/**
 * A proxy by `pod.namespace`, or by its whole id.
 *
 * @throws ConnectError where the caller may read of none of that name, or of several in different clusters
 */
export async function visibleProxy(front: VisibleServices, caller: Caller, name: string): Promise<ServedProxy> {
  const named = (await visibleNodes(front, caller, name)).filter(
    ({ node }) => node === name || parseNodeId(node)?.name === name,
  );
  // A pod that was replaced under its name had another address.
  const [node, ...others] = named.sort((a, b) => Number(a.seen < b.seen) - Number(b.seen < a.seen));
  if (node === undefined) throw noProxy(name);
  if (others.some(({ cluster }) => cluster !== node.cluster))
    throw new ConnectError(`"${shown(name)}" is in several clusters: ask for the id of one`, Code.FailedPrecondition);
  const head = await headOf(front);
  if (caller.kind === "node") {
    const own = await ownClass(front, head, caller, node);
    if (own !== undefined) return { node, ...own };
    throw noProxy(name);
  }
  const loaded = await rootOf(front, head, node);
  const classId = await classFor(front.browsing, loaded, node);
  if (classId === undefined) throw noProxy(name);
  return { node, loaded, classId };
}

/** What a workload would be served if it were this proxy; undefined where it may not be it. */
async function ownClass(front: RootServices, head: Head, caller: Caller, node: NodeStatus) {
  const claims = claimsOf(node);
  if (misfit(caller, claims) !== undefined) return undefined;
  const loaded = await rootOf(front, head, node);
  const placement = await placeNode(front.browsing, loaded, claims, caller);
  const isOwn = placement.kind === "placed" && placement.byDefault === undefined;
  return isOwn ? { loaded, classId: placement.classId } : undefined;
}

/** What is kept of a node of what it has said. */
const claimsOf = ({ node, cluster }: NodeStatus): NodeClaims => ({
  id: node,
  cluster: "",
  metadata: cluster === undefined ? {} : { [clusterMember]: cluster },
  locality: "",
});

async function headOf({ heads }: Pick<Front, "heads">): Promise<Head> {
  const head = await heads.current();
  if (head === undefined) throw new ConnectError("nothing was published yet", Code.Unavailable);
  return head;
}

const rootOf = ({ browsing, heads }: RootServices, head: Head, node: NodeStatus): Promise<LoadedRoot> =>
  browsing.root(rootFor({ head, nowMs: heads.timeMs() }, node));

/** The same for one that is not there and one that the caller may not read of. */
const noProxy = (name: string): ConnectError =>
  new ConnectError(`no proxy "${shown(name)}" has asked that this caller may read of`, Code.NotFound);
