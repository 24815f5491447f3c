import { concatBytes, hashOf } from "../blob.ts";
import type { CompiledResource, TextRun } from "../compiled.ts";
import { nameHash } from "../name-hash.ts";
import { utf8Length } from "../utf8-length.ts";
import { versionOfRuns } from "./pieces.ts";

/** A resource that is held in runs: its text and its binary form are put together for whoever asks, and held by nobody. */
export function longResource({ name, from, runs }: LongParts): CompiledResource {
  const hasBinary = runs.every(({ binary }) => binary !== undefined);
  const text = {
    name,
    version: versionOfRuns(runs),
    from,
    runs,
    get text() {
      return runs.map((run) => run.text).join("");
    },
  };
  if (!hasBinary) return text;
  const binary = () => concatBytes(runs.flatMap((run) => run.binary?.bytes ?? []));
  return Object.defineProperty(text, "binary", { get: binary, enumerable: true });
}

interface LongParts {
  readonly name: string;
  readonly from: readonly string[];
  readonly runs: readonly TextRun[];
}

/** @param binary of the same elements */
export function textRun(text: string, binary?: Uint8Array<ArrayBuffer>): TextRun {
  const hash = hashOf(text);
  const run = { hash, text, sizeBytes: utf8Length(text), cutHash: nameHash(hash) };
  return binary === undefined ? run : { ...run, binary: { hash: hashOf(binary), bytes: binary } };
}

/** The texts that a resource's own consists of, one after the other; no element of it lies in two of them. */
export const textsOf = (resource: CompiledResource): readonly string[] =>
  resource.runs === undefined ? [resource.text] : resource.runs.map(({ text }) => text);

/** In UTF-16 code units, as texts count. */
export const textLength = (resource: CompiledResource): number =>
  resource.runs === undefined ? resource.text.length : resource.runs.reduce((sum, { text }) => sum + text.length, 0);
