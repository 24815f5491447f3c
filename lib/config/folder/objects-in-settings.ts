import { type Diagnostic, fileOrigin } from "../../base/diagnostic.ts";
import { objectInSettings, statedKind } from "../documents/object-in-settings.ts";
import { fromOldSpelling } from "../documents/old-spelling.ts";
import { parseStream } from "../documents/parse.ts";
import { closeObject } from "../fail-closed/close-object.ts";
import { closeUnreadable } from "../fail-closed/close-unreadable.ts";
import type { ClosedObject } from "../fail-closed/closed-object.ts";
import { at } from "../finding.ts";
import type { ReadOptions } from "../read-config.ts";

/** What a file of settings holds besides. */
export interface ObjectsInSettings {
  /** An error for each Kubernetes object: nothing of the file is read, so that no object is lost without a word. */
  readonly diagnostics: readonly Diagnostic[];
  /** Of security objects, and of documents that cannot be read and show one. */
  readonly closed: readonly ClosedObject[];
}

/**
 * Looks for Kubernetes objects in a file whose name says that it holds settings.
 *
 * @param file its name, as users know it
 * @param place the same in origins
 * @param holds what a file of this name holds
 */
export function objectsInSettings(
  { file, place, text, holds }: Readonly<Record<"file" | "place" | "text" | "holds", string>>,
  options: ReadOptions,
): ObjectsInSettings {
  const { value: objects, others } = parseStream(text, { file: place });
  const refusal = (kind: string) => objectInSettings(file, kind, `a file of this name holds ${holds}`);
  const refused = objects.map((object) => ({ object, error: at(object.origin, refusal(object.kind)) }));
  // Settings are no objects, and what cannot be read is told of by whoever reads the settings.
  const incomplete = others.filter(({ read }) => read === undefined || statedKind(read.value) !== "");
  return {
    diagnostics: [
      ...refused.map(({ error }) => error),
      ...incomplete.flatMap(({ read, line }) =>
        read === undefined ? [] : [at(fileOrigin(place, line), refusal(statedKind(read.value)))],
      ),
    ],
    closed: [
      ...refused.flatMap(({ object, error }) => closeObject(fromOldSpelling(object), [error], options) ?? []),
      ...incomplete.flatMap((other) => closeUnreadable(other, place, options)),
    ],
  };
}
