import type { Fields } from "../../base/untyped.ts";

/** One thing that an origin holds. */
export interface OriginObject {
  /** The same for the same thing over time, and for nothing else of the origin: `Pod/shop/reviews-1`. */
  readonly key: string;
  /** What is read of it, and nothing else: plain JSON. Who watches leaves out what changes all the time and nobody reads. */
  readonly object: Fields;
  /** The origin's own version of it, such as a resourceVersion, without blanks; "" where it has none. */
  readonly version: string;
}

/** The same as one text, which takes a fraction of the memory; `packed` makes it. */
export interface PackedObject {
  readonly key: string;
  /** The version, a blank, and the canonical JSON of the object. */
  readonly entry: string;
}

/** A new form of a thing, or its end. */
export interface OriginChange {
  readonly key: string;
  /** undefined: gone. */
  readonly object: OriginObject | PackedObject | undefined;
}

/**
 * Where an origin tells what it holds. An origin consists of parts that are read by themselves (a collection of an API server, the
 * catalogue of a datacentre); nothing is published before each of them was told as a whole.
 */
export interface OriginSink {
  /**
   * All that a part holds now: what it held and is not here is gone. Says too that the part is followed from here on.
   *
   * @returns whether it was taken; what is too much is not, nor is any of it, and the part has then failed until it is told as a whole again
   */
  whole(part: string, objects: readonly (OriginObject | PackedObject)[]): boolean;
  /** What came, changed or went since. @returns as `whole` does */
  changed(part: string, changes: readonly OriginChange[]): boolean;
  /**
   * The origin has no such part, as of now. One that holds nothing is empty, and taken for told as a whole. What another one held stays,
   * and it has failed until it is told as a whole again.
   *
   * @param reason in words that follow the part's name
   * @returns whether it holds something, or may: that is known when all parts were compared with what was told before
   */
  absent(part: string, reason: string): boolean;
  /** The part cannot be read at the moment. What it held stays. */
  failed(part: string, reason: string): void;
  /** The part is followed again, and nothing was missed. Where something may have been, `whole` says it instead. */
  followed(part: string): void;
}

/** What an origin is: written into its shard, so that whoever compiles knows how to read the objects. */
export type OriginAbout =
  /** Objects as an API server gives them; the cluster by its id. */
  | { readonly kind: "kubernetes"; readonly cluster: string }
  /** Services of Consul's datacentres. */
  | { readonly kind: "consul" }
  /** Istio's objects, as a source of MCP names them. */
  | { readonly kind: "mcp" };

/** A live origin of input: a cluster, a datacentre, a server of configuration. */
export interface Origin {
  readonly about: OriginAbout;
  /** The names of all of its parts. */
  readonly parts: readonly string[];
  /**
   * Which one it is among those of its kind, as far as it has said by now: how that is known, a blank, and what tells it from others
   * (`cluster 8d1f…`). Two that are known in different ways may be the same. Asked when all parts were told.
   */
  identity?(): string | undefined;
  /** What could be read here and is not known to the origin, as of now: such parts are empty. For people. */
  absent?(): readonly string[];
  /**
   * Tells everything, and then changes, until the signal says stop. Failures are told and retried with back-off; it rejects for
   * what no retry mends.
   */
  follow(sink: OriginSink, signal: AbortSignal): Promise<void>;
}
