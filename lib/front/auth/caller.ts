import { type NodeClaims, namespaceOf, parseNodeId } from "../../snapshot/classifier.ts";

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
  /** Cluster that it runs in. */
  readonly clusterId?: string;
  /** The only classes that it may be of; absent: any that its claim leads to. */
  readonly classes?: readonly string[];
}

/** What a path is for: `node`, a node's own resources; `v1`, those of the legacy API; `operator`, everything else. */
export type Scope = "node" | "v1" | "operator";

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
    ["service account", textOf(claims.metadata.SERVICE_ACCOUNT) || serviceAccount, serviceAccount],
    ["cluster", textOf(claims.metadata.CLUSTER_ID) || clusterId, clusterId],
  ] as const;
  const wrong = claimed.find(([, said, proven]) => proven !== undefined && said !== proven);
  return wrong === undefined
    ? undefined
    : `node "${claims.id.slice(0, 200)}" is not of the caller's ${wrong[0]}, ${wrong[2]}`;
}

/**
 * Names by which the node index may be asked, in order. Of a node whose namespace was proven only its name counts: it could say any
 * address, and any cluster.
 */
export function indexKeys(caller: Caller, claims: NodeClaims): readonly string[] {
  const nodeId = parseNodeId(claims.id);
  if (caller.kind === "node") return [nodeId?.name ?? claims.id];
  return nodeId === undefined ? [claims.id, claims.cluster] : [nodeId.name, nodeId.address];
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
