import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedRoot, LoadedTree } from "../../snapshot/reader/loaded.ts";
import { type DeltaAnswer, deltaBetween, deltaByNames } from "../../streams/delta.ts";
import type { ServedType } from "../../streams/served-type.ts";
import type { Front } from "../front.ts";
import { requestingNodeOf } from "../nodes/requesting-node.ts";
import { type Refused, refuse, refuseUnplaced } from "../polls/outcome.ts";
import type { DeltaRequest } from "./delta-request.ts";
import { type KnownTreeServices, knownTree, type TreeQuestion } from "./known-tree.ts";

/** What a reader of a type should have. */
export interface TreeInForce {
  readonly tree: LoadedTree;
  /** Of the whole type. */
  readonly version: string;
  readonly classId: string;
  /** Hash of the root. */
  readonly root: string;
}

/** What finds the resources of a node in a root. */
export type PlaceServices = Pick<Front, "place" | "reader">;

/** What a reader should have of a root, or why it has no part in it. */
export async function treeInForce(
  front: PlaceServices,
  loaded: LoadedRoot,
  { node, caller, type, shape }: TreeQuestion,
): Promise<TreeInForce | Refused> {
  const placement = await front.place(loaded, node, caller);
  if (placement.kind !== "placed") return refuseUnplaced(placement);
  const { classId } = placement;
  const proxyClass = loaded.classes.get(classId);
  if (proxyClass === undefined) return refuse(404, "unknown-node", `there is no class "${classId}"`);
  const tree = await front.reader.tree(loaded.root, type, proxyClass[shape][type]);
  return { tree, version: wireVersion(tree.version), classId, root: loaded.hash };
}

/** What a reader is told. */
type Told = Pick<DeltaRequest, "names" | "known" | "held">;

/**
 * What tells a reader's resources from those in force: by the names and versions that it lists, or by the version that it holds, of which
 * only what differs is read.
 */
export async function deltaNow(
  front: KnownTreeServices & Pick<Front, "differences">,
  { tree }: TreeInForce,
  question: TreeQuestion,
  { names, known, held }: Told,
): Promise<DeltaAnswer | Refused> {
  if (held === undefined || known.size > 0) return deltaByNames(front.reader, tree, { names, known });
  const older = await knownTree(front, held, question);
  return older === undefined
    ? refuse(
        410,
        "unknown-version",
        "this front does not find the version that response_nonce names; list what you have in initial_resource_versions, or leave out response_nonce to get everything",
      )
    : deltaBetween(front.differences, older, tree, names);
}

/** Who says something of a type, and what is in force for it. */
export interface Speaker extends Pick<TreeQuestion, "node" | "caller" | "shape">, Omit<TreeInForce, "tree"> {
  readonly type: ServedType;
  /** `Served.apart`. */
  readonly apart: string | undefined;
}

/** Takes notice of what a reader says it has, and of what it refuses. @param isNew false for a request that was held meanwhile: its node may have said something else since */
export function hear(
  front: Pick<Front, "nodes" | "said">,
  { node, caller, type, shape, version, classId, root, apart }: Speaker,
  { held, complaint, accepted }: Pick<DeltaRequest, "held" | "complaint" | "accepted">,
  isNew: boolean,
): void {
  const who = { ...requestingNodeOf(caller, node), type };
  // Of what it refuses in part it has what it had; an agent holds more than its Envoy has taken, and says so.
  const has = accepted ?? (complaint === undefined ? held?.version : undefined);
  if (isNew) front.nodes.has({ ...who, name: "" }, has, shape === "poll" ? "poll" : "delta", { classId, root: apart });
  if (complaint === undefined && isNew) front.said.mended(who);
  if (complaint !== undefined && held?.version === version) {
    const { words: error, names } = complaint;
    front.said.refused(who, { answer: { version, kept: accepted || undefined, classId, root }, names, error });
  }
}
