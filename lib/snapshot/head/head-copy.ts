import { type Blob, blobKey, hashOf } from "../../base/blob.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Head } from "../root.ts";
import { parseHead } from "./head.ts";

/** Copies of HEAD lie here under their generations, for when HEAD itself is lost. */
export const headCopyPrefix = "heads/";

/** So many of the newest stay when the rest is collected. */
export const keptCopies = 16;

/** A HEAD that was in force, and the entry of the history that it came with. */
export interface HeadCopy {
  readonly head: Head;
  readonly publication: Blob;
}

/** Sorted by code point, keys are sorted by generation. */
const headCopyKey = (generation: number): string => `${headCopyPrefix}${String(generation).padStart(10, "0")}`;

/**
 * Keeps a copy of a HEAD that has just come into force. Only whoever has moved HEAD writes it, so a copy proves that its HEAD was
 * one. HEAD has moved whatever becomes of the copy: a store that fails now fails nobody's publish, and the next HEAD has a copy of its own.
 */
export async function keepHeadCopy(store: ObjectStore, { head, publication }: HeadCopy): Promise<void> {
  const lines = [JSON.stringify(head), new TextDecoder().decode(publication.bytes)];
  const text = [...lines, hashOf(lines.join("\n")), ""].join("\n");
  await store.put(headCopyKey(head.generation), new TextEncoder().encode(text)).catch(() => {});
}

/** The keys of all copies, the newest first. */
export async function headCopyKeys(store: ObjectStore): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(headCopyPrefix)) keys.push(key);
  return keys.reverse();
}

/** The newest copies that are whole, the newest first. */
export async function* headCopies(store: ObjectStore): AsyncGenerator<HeadCopy> {
  for (const key of (await headCopyKeys(store)).slice(0, keptCopies)) {
    const found = await store.get(key);
    const copy = found.kind === "found" ? readCopy(new TextDecoder().decode(found.bytes)) : undefined;
    if (copy !== undefined) yield copy;
  }
}

/** @returns undefined for what is damaged */
function readCopy(text: string): HeadCopy | undefined {
  const [head = "", entry = "", sum] = text.split("\n");
  if (hashOf(`${head}\n${entry}`) !== sum) return undefined;
  const bytes = new TextEncoder().encode(head);
  return { head: parseHead(bytes), publication: { hash: hashOf(entry), bytes: new TextEncoder().encode(entry) } };
}

/** Writes entries of the history anew that are missing or damaged, and of which there are copies. @returns how many */
export async function mendHistory(store: ObjectStore): Promise<number> {
  let mended = 0;
  for await (const { publication } of headCopies(store)) {
    const key = blobKey(publication.hash);
    const found = await store.get(key);
    if (found.kind === "found" && hashOf(found.bytes) === publication.hash) continue;
    await store.put(key, publication.bytes);
    mended += 1;
  }
  return mended;
}
