import { isFields, isTime, jsonIn } from "../../base/untyped.ts";
import { cutText } from "../../snapshot/free-text.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { encodeKeyPart } from "../../storage/object-store.ts";

/** What a collector says of its shard from time to time, beside it: none of this is part of a version. */
export interface ShardState {
  /** Milliseconds since the epoch by the collector's clock: until then the shard is known to say what the origin held. 0: never. */
  readonly asOfMs: number;
  /** Why the origin, or a part of it, cannot be read at the moment; "" while all of it is followed. */
  readonly failure: string;
  /** The process that has written this, for people; absent: it does not say. */
  readonly writer?: string | undefined;
  /** Another process that fills the source at the same time, as the writer has seen it; absent: none. */
  readonly otherWriter?: string | undefined;
}

/** @returns `as of …`, in RFC 3339, or that there was no such time */
export const asOfText = (asOfMs: number): string =>
  asOfMs > 0 ? `as of ${new Date(asOfMs).toISOString()}` : "never read completely";

/** Of a longer reason the beginning is told. */
const maxFailureBytes = 1_024;
const maxWriterBytes = 256;

const stateKey = (source: string) => `sources/${encodeKeyPart(source)}/state`;

export async function writeShardState(store: ObjectStore, source: string, state: ShardState): Promise<void> {
  await store.put(
    stateKey(source),
    new TextEncoder().encode(JSON.stringify({ ...state, failure: cutText(state.failure, maxFailureBytes) })),
  );
}

/** @returns undefined where there is none, or what is there is none: sources that nobody collects have no age */
export async function readShardState(store: ObjectStore, source: string): Promise<ShardState | undefined> {
  const found = await store.get(stateKey(source));
  return found.kind === "found" ? readStateText(new TextDecoder().decode(found.bytes)) : undefined;
}

/** @returns undefined for what is no such sign of life */
export function readStateText(text: string): ShardState | undefined {
  const json = jsonIn(text);
  if (!isFields(json)) return undefined;
  const { asOfMs, failure, writer, otherWriter } = json;
  if (typeof asOfMs !== "number" || !isTime(asOfMs) || typeof failure !== "string") return undefined;
  return {
    asOfMs,
    failure: cutText(failure, maxFailureBytes),
    ...(isWriter(writer) ? { writer: cutText(writer, maxWriterBytes) } : {}),
    ...(isWriter(otherWriter) ? { otherWriter: cutText(otherWriter, maxWriterBytes) } : {}),
  };
}

const isWriter = (value: unknown): value is string => typeof value === "string" && value !== "";
