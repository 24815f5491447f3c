import { canonicalJson } from "../../config/canonical-json.ts";
import type { OriginObject, PackedObject } from "./origin.ts";

/** The version, a blank, and the canonical JSON: how a thing is kept, in memory and in the tree of its source. */
const entryText = (version: string, json: string): string => `${version} ${json}`;

/** The version of an entry and the JSON text of its object. */
export function splitEntry(entry: string): { readonly version: string; readonly json: string } {
  const blank = entry.indexOf(" ");
  return { version: entry.slice(0, blank), json: entry.slice(blank + 1) };
}

/** A text that was put together keeps all of its pieces in memory, and JSON has hundreds of them. */
const inOnePiece = (text: string): string => Buffer.from(text).toString();

export function packed({ key, version, object }: OriginObject): PackedObject {
  return { key, entry: inOnePiece(entryText(version, canonicalJson(object))) };
}
