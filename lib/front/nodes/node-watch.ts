import type { Refusal } from "./refusals.ts";
import type { RequestingNode } from "./requesting-node.ts";

/** How a node is told. */
export type NodeTransport = "poll" | "stream" | "delta";

/** Who has something, and of what. */
export interface NodeSubscription extends RequestingNode {
  /** A type of resources, secrets among them. */
  readonly type: string;
  /** "" for a type that comes whole, and on streams. */
  readonly name: string;
}

/** How a node is served. */
export interface ServedAs {
  /** Absent where that is not known at the moment. */
  readonly classId?: string | undefined;
  /** The root in force for it, where that is not everybody's: it is in a canary, or ahead of a step. */
  readonly root?: string | undefined;
}

/** What a front keeps of its nodes. A port: kept where a process lives long, at the edge nobody listens. */
export interface NodeWatch {
  /** To be told of every version that a placed node says it has, and how it is served. */
  has(who: NodeSubscription, version: string | undefined, transport: NodeTransport, as?: ServedAs): void;
  /** To be told of every refusal, once. */
  refused(refusal: Refusal): void;
  /** To be told of a stream that opens. @returns what to call when it ends */
  streams?(who: RequestingNode): () => void;
  /** To be told of a request that is held. @returns what to call when it is held no more */
  holds?(who: NodeSubscription): () => void;
  /** Whether a node goes on asking for something; true of a node that is not known. */
  isAsking?(who: NodeSubscription): boolean;
  /** What this front's own nodes have, those of processes beside this one among them. */
  own?(): Promise<readonly NodeStatus[]>;
  /** For `GET /status/nodes`, if anything is kept. */
  report?(question: NodeQuestion): Promise<NodeReport>;
}

/** Which nodes are asked about. */
export interface NodeQuestion {
  /** Part of their ids; "" for all. */
  readonly part: string;
  /** Nodes at most. */
  readonly limit: number;
}

export interface NodeReport {
  /** By id. */
  readonly nodes: readonly NodeStatus[];
  /** Nodes beyond the limit. */
  readonly more: number;
  /** Records of other fronts that could not be read in time, or were too many; absent: none. Nodes that only they tell of are missing. */
  readonly unread?: number;
}

export interface NodeStatus {
  readonly node: string;
  /** Id of the cluster that it is in, as far as it has proven or said one: nodes of two clusters may have one id. */
  readonly cluster?: string;
  /** Id of the class that it was last served as; absent where it has none of its own. */
  readonly class?: string;
  /** The root that was last in force for it, where that was not everybody's. */
  readonly root?: string;
  /** When it was last heard, RFC 3339. */
  readonly seen: string;
  /** Whether it has a stream or a held request open. */
  readonly isOpen: boolean;
  /** Longest usual pause between two of its requests, in milliseconds; 0 of a node on streams, which end when it does. */
  readonly pauseMs: number;
  readonly resources: readonly NodeResource[];
}

/** What a node has of a type, or of one resource that it asks for by name. */
export interface NodeResource {
  readonly type: string;
  /** Absent for a type that comes whole. */
  readonly name?: string;
  /** What it has accepted last; "" where it has refused the first it was served, and has none. */
  readonly version: string;
  /** When it first said so, RFC 3339. */
  readonly since: string;
  readonly transport: NodeTransport;
  /** A version that it was served and keeps this one for; on streams with its own words, cut off where they are many. */
  readonly refused?: { readonly version: string; readonly since: string; readonly error?: string };
}

export const noNodes: NodeWatch = { has() {}, refused() {} };
