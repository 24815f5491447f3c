import { hashOf } from "../../../lib/snapshot/blob.ts";
import {
  aroundRun,
  cutPieces,
  listMessage,
  longLength,
  nameOf,
  runText,
  versionOfRuns,
} from "../../../lib/snapshot/long/pieces.ts";
import type { ResourceType } from "../../../lib/snapshot/resource-type.ts";

/** The version that a resource's text has, by the text alone. */
export function versionOfText(type: ResourceType, text: string): string {
  const message = text.length < longLength ? undefined : listMessage(type, JSON.parse(text));
  if (message === undefined) return hashOf(text);
  const pieces = message.elements.map((element) => ({ name: nameOf(element), text: JSON.stringify(element) }));
  const runs = cutPieces(type, pieces);
  return versionOfRuns(runs.map((run, at) => ({ hash: hashOf(runText(run, aroundRun(message, at, runs.length))) })));
}
