import { hashOf } from "../../base/blob.ts";
import type { ResourceType } from "../resource-type.ts";
import {
  aroundRun,
  cutOrder,
  cutPieces,
  listMessage,
  longLength,
  nameOf,
  pieceOf,
  runText,
  versionOfRuns,
} from "./pieces.ts";

/** The version that a resource's text has, by the text alone, and whether it is one that is cut. */
export function versionOfText(
  type: ResourceType,
  text: string,
): { readonly version: string; readonly isLong: boolean } {
  const message = text.length < longLength ? undefined : listMessage(type, JSON.parse(text));
  if (message === undefined) return { version: hashOf(text), isLong: false };
  const pieces = message.elements.map((element) => pieceOf(element, JSON.stringify(element)));
  const runs = cutPieces(pieces, cutOrder(type, message.elements.map(nameOf)));
  const hashes = runs.map((run, at) => hashOf(runText(run, aroundRun(message, at, runs.length))));
  return { version: versionOfRuns(hashes), isLong: true };
}
