/** What the first process of a front and its workers tell each other, as JSON. */
import type { ExplainedRefusal } from "../nodes/explain-refusal.ts";
import type { NodeStatus } from "../nodes/node-watch.ts";
import type { Refusal } from "../nodes/refusals.ts";
import type { UnmatchedNode } from "../nodes/unmatched-nodes.ts";

/** What each process has some of: asked of all others. */
export interface Parts {
  readonly refusals: readonly ExplainedRefusal[];
  readonly strangers: readonly UnmatchedNode[];
  readonly nodes: readonly NodeStatus[];
  /** Series, as prom-client's registries give them. */
  readonly metrics: readonly object[];
}

/** One process's share of what was asked for; all others are empty. */
export type PartName = keyof Parts;

/** HEAD as the first process has read it; `unchanged` since the tag that was named. */
export type HeadReply =
  | { readonly kind: "found"; readonly text: string; readonly etag: string; readonly modifiedMs: number | undefined }
  | { readonly kind: "unchanged" }
  | { readonly kind: "absent" }
  /** The store does not give it. */
  | { readonly kind: "failed"; readonly reason: string };

export type FromWorker =
  | { readonly kind: "serving"; readonly urls: readonly string[] }
  /** It cannot serve, and ends. */
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "head?"; readonly id: number; readonly ifNoneMatch: string | undefined }
  /** It follows a HEAD of this generation, whose signature it has checked. */
  | { readonly kind: "believed"; readonly generation: number }
  | { readonly kind: "parts?"; readonly id: number; readonly name: PartName }
  | { readonly kind: "part"; readonly id: number; readonly part: Partial<Parts> }
  | { readonly kind: "confirmed"; readonly key: string; readonly version: string }
  | { readonly kind: "stranger"; readonly unmatched: UnmatchedNode }
  | { readonly kind: "refusal"; readonly refusal: Refusal };

export type ToWorker =
  /** With what the store's clock shows, where it tells, and the newest generation that any worker has believed: 0 for none. */
  | {
      readonly kind: "head";
      readonly id: number;
      readonly reply: HeadReply;
      readonly storeMs: number | undefined;
      readonly believed: number;
    }
  | { readonly kind: "head changed" }
  | { readonly kind: "part?"; readonly id: number; readonly name: PartName }
  | { readonly kind: "parts"; readonly id: number; readonly parts: readonly Partial<Parts>[] }
  | { readonly kind: "confirmed"; readonly key: string; readonly version: string }
  | { readonly kind: "close" };

/** One end of the way between two processes. */
export interface Line<Sent, Heard> {
  send(message: Sent): void;
  /** Only one listener. */
  listen(hear: (message: Heard) => void): void;
}
