import type { ResourceType } from "../snapshot/resource-type.ts";
import type { NodeCondition } from "./nodes/node-state.ts";

/** What became of a request; an answer on a stream is one that changed something. */
export type Outcome =
  | "changed"
  | "unchanged"
  | "pending"
  | "unknown-node"
  | "forbidden"
  | "unknown-name"
  | "unknown-version"
  | "bad-request"
  | "busy"
  | "unavailable";

/** Nodes by their state; `lib/front/nodes/node-state.ts` says what each is. */
export type NodeCounts = Readonly<Record<NodeCondition, number>>;

/** What the front counts. A port: the Node server exports it for Prometheus, at the edge nobody listens. */
export interface FrontMetrics {
  poll(type: ResourceType | "secrets", outcome: Outcome): void;
  /** Polls that are being held, up or down by one. */
  held(difference: 1 | -1): void;
  /** Streams that are open, up or down by one. */
  stream?(difference: 1 | -1): void;
  /** A node has refused an answer. */
  refusal(type: ResourceType | "secrets"): void;
  /** To be told, once, how to ask for the types of the refusals that stand: one for each. */
  refusing?(active: () => Iterable<ResourceType | "secrets">): void;
  /** To be told, once, how to ask for how many of this front's nodes are in each state. */
  nodes?(counts: () => Promise<NodeCounts | undefined>): void;
  /** HEAD could not be read; the last one is still served. */
  headError(): void;
  /** A server of the front lost a connection, as where it cannot be accepted. */
  serverError?(): void;
  /** Text for `GET /metrics`, if there is any. */
  render?(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export const noMetrics: FrontMetrics = { poll() {}, held() {}, refusal() {}, headError() {} };
