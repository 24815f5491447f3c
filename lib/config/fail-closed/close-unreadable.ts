import { isKustomization } from "../documents/foreign-document.ts";
import type { OtherText } from "../documents/parse.ts";
import type { ReadOptions } from "../read-config.ts";
import { closeObject } from "./close-object.ts";
import type { ClosedObject } from "./closed-object.ts";
import { shownObjects } from "./shown-objects.ts";

const names = /["']?\bname["']?[ \t]*:[ \t]*["']?([a-z0-9][-a-z0-9.]{0,252})/;

/**
 * What closes the namespaces of objects that protect something and stand in a document which cannot be read, as far as its text
 * shows them. A template of Helm is none.
 *
 * @param file as messages name it
 */
export function closeUnreadable(
  { document, template, line, read }: OtherText,
  file: string,
  options: ReadOptions,
): readonly ClosedObject[] {
  // What is meant for another program is not refused.
  if (read !== undefined && isKustomization(read.value, file)) return [];
  const text = read === undefined ? document.text : (JSON.stringify(read.value) ?? "");
  const { kinds, namespaces } = shownObjects(text);
  if (kinds.length === 0 || template() !== undefined) return [];
  const places = namespaces.length === 0 ? [options.namespace ?? "default"] : namespaces;
  // Of several objects nobody can say whose name it is.
  const name = kinds.length === 1 ? (names.exec(text)?.[1] ?? "") : "";
  return kinds.flatMap(({ group, kind }) =>
    places.flatMap((namespace) => {
      const object = {
        apiVersion: `${group}/v1`,
        kind,
        metadata: { name, namespace },
        spec: text,
        origin: { key: { group, kind, name, namespace }, file, line },
      };
      return closeObject(object, [], { ...options, isPlaceUnknown: namespace === "" }) ?? [];
    }),
  );
}
