import { isKustomization } from "../documents/foreign-document.ts";
import type { OtherText } from "../documents/parse.ts";
import type { ReadOptions } from "../read-config.ts";
import { closeObject } from "./close-object.ts";
import type { ClosedObject } from "./closed-object.ts";

const kinds = /["']?\bkind["']?[ \t]*:[ \t]*["']?(AuthorizationPolicy|PeerAuthentication|RequestAuthentication)\b/g;
const namespaces = /["']?\bnamespace["']?[ \t]*:[ \t]*["']?([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)/g;
const names = /["']?\bname["']?[ \t]*:[ \t]*["']?([a-z0-9][-a-z0-9.]{0,252})/;

/** So many namespaces of one document are closed; one that names more closes the whole mesh. */
const maxNamespaces = 16;

/**
 * What closes the namespaces of security objects that stand in a document which cannot be read, as far as its text shows them. A
 * template of Helm is none.
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
  const found = matches(text, kinds);
  if (found.length === 0 || template() !== undefined) return [];
  const written = matches(text, namespaces);
  const places = written.length === 0 ? [options.namespace ?? "default"] : written;
  // Of several objects nobody can say whose name it is.
  const name = found.length === 1 ? (names.exec(text)?.[1] ?? "") : "";
  return found.flatMap((kind) =>
    (places.length > maxNamespaces ? [""] : places).flatMap((namespace) => {
      const key = { group: "security.istio.io", kind, name, namespace };
      const object = {
        apiVersion: "security.istio.io/v1",
        kind,
        metadata: { name, namespace },
        spec: text,
        origin: { key, file, line },
      };
      return closeObject(object, [], options) ?? [];
    }),
  );
}

const matches = (text: string, pattern: RegExp): readonly string[] => [
  ...new Set(Array.from(text.matchAll(pattern), ([, word = ""]) => word)),
];
