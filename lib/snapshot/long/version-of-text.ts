import { hashOf } from "../../base/blob.ts";
import type { ResourceType } from "../resource-type.ts";
import {
  aroundChunk,
  chunkText,
  cutChunks,
  cutOrder,
  listElementOf,
  listMessage,
  longLength,
  nameOf,
  versionOfChunks,
} from "./cut-chunks.ts";

/** The version that a resource's text has, by the text alone, and whether it is one that is cut. */
export function versionOfText(
  type: ResourceType,
  text: string,
): { readonly version: string; readonly isLong: boolean } {
  const message = text.length < longLength ? undefined : listMessage(type, JSON.parse(text));
  if (message === undefined) return { version: hashOf(text), isLong: false };
  const pieces = message.elements.map((element) => listElementOf(element, JSON.stringify(element)));
  const runs = cutChunks(pieces, cutOrder(type, message.elements.map(nameOf)));
  const hashes = runs.map((run, at) => hashOf(chunkText(run, aroundChunk(message, at, runs.length))));
  return { version: versionOfChunks(hashes), isLong: true };
}
