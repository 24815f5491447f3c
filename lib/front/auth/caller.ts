import {
  accountKey,
  accountMember,
  clusterMember,
  type NodeClaims,
  namespaceOf,
  parseNodeId,
  textOf,
} from "../../base/classifier.ts";
import { shown } from "../excess.ts";

/** Who asks, as far as it was proven. */
export type Caller =
  /** Authentication is off: whoever can connect. */
  | { readonly kind: "anyone" }
  /** Reads what any node may, and what is for operators alone. */
  | { readonly kind: "operator"; readonly subject: string }
  /** Reads the v1 API for any node: its requests say nothing that could be held against a workload's identity. */
  | { readonly kind: "v1"; readonly subject: string }
  | NodeCaller;

/** A workload, which reads what is meant for it. */
export interface NodeCaller {
  readonly kind: "node";
  /** For logs. */
  readonly subject: string;
  readonly namespace: string;
  readonly serviceAccount?: string;
  /** Name of its pod, where that was proven too. */
  readonly pod?: string;
  /** Id of the cluster that it runs in; absent: not proven. Names of pods and service accounts are those of this cluster. */
  readonly clusterId?: string;
  /** The only classes that it may be of; absent: any that its claim leads to. */
  readonly classes?: readonly string[];
}

/** What a path is for: `node`, a node's own resources; `v1`, those of the legacy API; `operator`, everything else. */
export type Scope = "node" | "v1" | "operator";

/**
 * Tells callers apart: service accounts of two clusters may have one name.
 *
 * @returns "" for all who have proven nothing
 */
export function identityOf(caller: Caller): string {
  if (caller.kind === "anyone") return "";
  const { clusterId } = caller.kind === "node" ? caller : { clusterId: undefined };
  return clusterId === undefined ? caller.subject : `${caller.subject}\n${clusterId}`;
}

export function mayUse(caller: Caller, scope: Scope): boolean {
  return caller.kind === "anyone" || caller.kind === "operator" || caller.kind === scope;
}

/**
 * Holds what a node says of itself against what was proven. The namespace counts wherever it is said: in the metadata, the name
 * and the DNS domain.
 *
 * @returns why the claim is not the caller's to make, or undefined
 */
export function misfit(caller: Caller, claims: NodeClaims): string | undefined {
  if (caller.kind === "anyone" || caller.kind === "operator") return undefined;
  if (caller.kind === "v1") return `${caller.subject} reads the v1 API only`;
  const { namespace, serviceAccount, pod, clusterId } = caller;
  const nodeId = parseNodeId(claims.id);
  const name = nodeId?.name ?? claims.id;
  const claimed = [
    ["namespace", name.slice(name.lastIndexOf(".") + 1), namespace],
    ["namespace", nodeId === undefined ? namespace : namespaceOf(claims, nodeId), namespace],
    ["namespace", nodeId?.dnsDomain.split(".")[0] || namespace, namespace],
    ["pod", name, pod === undefined ? name : `${pod}.${namespace}`],
    ["service account", said(claims, accountMember, serviceAccount), serviceAccount],
    ["cluster", said(claims, clusterMember, clusterId), clusterId],
  ] as const;
  const wrong = claimed.find(([, said, proven]) => proven !== undefined && said !== proven);
  return wrong === undefined ? undefined : `node "${shown(claims.id)}" is not of the caller's ${wrong[0]}, ${wrong[2]}`;
}

/** A member of the metadata as a node says it; what was proven, if it says none. A value that is no text, as null is, fits no caller. */
function said({ metadata }: NodeClaims, member: string, proven: string | undefined): unknown {
  const value = Object.hasOwn(metadata, member) ? metadata[member] : "";
  return value === "" ? proven : value;
}

/**
 * What a node says of itself, with everything that was proven in place of what it says: its class follows from that, and neither from its
 * silence nor from a value of another type. A node without any metadata is projected on nothing, and stays so.
 */
export function completed(caller: Caller, claims: NodeClaims): NodeClaims {
  const { metadata } = claims;
  if (caller.kind !== "node" || Object.keys(metadata).length === 0) return claims;
  const { namespace, serviceAccount, clusterId } = caller;
  const proven = {
    NAMESPACE: namespace,
    ...(serviceAccount === undefined ? {} : { [accountMember]: serviceAccount }),
    ...(clusterId === undefined ? {} : { [clusterMember]: clusterId }),
  };
  return { ...claims, metadata: { ...metadata, ...proven } };
}

/**
 * Cluster whose nodes alone are looked up in the node index: the proven one, else the one that the node says.
 *
 * @returns undefined where neither says one: then a key leads to a class only if it is the same in all clusters
 */
export function clusterOf(caller: Caller, { metadata }: NodeClaims): string | undefined {
  const proven = caller.kind === "node" ? caller.clusterId : undefined;
  return proven ?? (textOf(metadata[clusterMember]) || undefined);
}

/**
 * Names by which the node index may be asked, in order. Of a node whose namespace was proven only its name counts: it could say any
 * address, and any cluster. Where its service account was proven and its pod was not, it could say any name as well: so it is looked
 * for among the nodes of that account.
 */
export function indexKeys(caller: Caller, claims: NodeClaims): readonly string[] {
  const nodeId = parseNodeId(claims.id);
  if (caller.kind === "node") {
    const { serviceAccount, pod } = caller;
    const name = nodeId?.name ?? claims.id;
    return [serviceAccount === undefined || pod !== undefined ? name : accountKey(serviceAccount, name)];
  }
  return nodeId === undefined ? [claims.id, claims.cluster] : [nodeId.name, nodeId.address];
}
