import type { CoreType } from "../../snapshot/resource-type.ts";
import type { Complaint } from "./delta-fetch.ts";
import type { WholeHoldings } from "./resources.ts";

/** Where resources come from: a front, or a folder that `portolan export` has filled. */
export interface Source {
  /** Begins to follow. Everything is told to the sink, nothing is thrown. */
  start(sink: SourceSink): void;
  /** Says that the node's Envoy refuses some of a type, or with undefined that it takes all of it again. What was said already may be said again. */
  rejects(type: CoreType, complaint: Complaint | undefined): void;
  /**
   * Says which version of a type the node's Envoy has accepted last: what the source has sent is not yet what Envoy runs.
   *
   * @param version of the whole type; "" for none, `acceptedBefore` for one that came from an earlier agent
   */
  accepts(type: CoreType, version: string): void;
  close(): void;
}

/** Envoy has something of a type, of a version that this agent does not know. */
export const acceptedBefore = "earlier";

export interface SourceSink {
  /** All that there is now, every type of it. */
  changed(holdings: WholeHoldings): void;
  /** Why nothing new can be learnt, in words for people; told again only when the words are others. */
  trouble(why: string): void;
  /** The source answers, or answers again. */
  reached(): void;
}
