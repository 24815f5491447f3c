import { type Diagnostic, errorsOf, kindText } from "../base/diagnostic.ts";
import { pathText } from "../base/path-text.ts";
import { type Fields, isFields, textOf } from "../base/untyped.ts";
import type { Config } from "../config/config.ts";
import type { ParsedObject } from "../config/documents/parse.ts";
import { isConfig, sortObjects } from "../config/folder/sort-objects.ts";
import { groupVersion } from "../config/values/group-version.ts";
import type { AdmissionRequest } from "./review.ts";

/** What is known of an object by itself. */
export type ObjectReading =
  | { readonly kind: "refused"; readonly message: string; readonly warnings: readonly string[] }
  | { readonly kind: "read"; readonly config: Config | undefined; readonly warnings: readonly string[] };

/**
 * Validates an object as `portolan validate` does. Kinds that are no configuration are read without a config and with a warning.
 *
 * @param object of the request, old or new
 */
export function readObject(object: Fields, request: AdmissionRequest): ObjectReading {
  const parsed = parsedObject(object, request);
  if (parsed === undefined) {
    return { kind: "refused", message: "cannot decode configuration: apiVersion and kind must be set", warnings: [] };
  }
  if (!isConfig(parsed)) {
    const what = kindText({ group: groupVersion(parsed.apiVersion).group, kind: parsed.kind });
    const warning = `${what} is not a kind that this webhook validates; the object was admitted unchecked`;
    return { kind: "read", config: undefined, warnings: [warning] };
  }
  const { configs, diagnostics } = sortObjects([parsed], {
    ...(request.namespace === "" ? {} : { namespace: request.namespace }),
    // Both are settings of the mesh, which a compile looks at: the object may be right there.
    inlineSymmetricKeys: "allow",
    acceptUnknownTypes: true,
  });
  const errors = errorsOf(diagnostics).map(findingText);
  const warnings = diagnostics.filter(({ severity }) => severity === "warning").map(findingText);
  const [config] = configs;
  if (errors.length === 0 && config !== undefined) return { kind: "read", config, warnings };
  return { kind: "refused", message: `configuration is invalid: ${listed(errors)}`, warnings };
}

/** One finding for a terminal: where, what, and what to do. */
export const findingText = ({ path, message, hint }: Diagnostic): string =>
  `${path.length === 0 ? "" : `${pathText(path)}: `}${message}${hint === "" ? "" : ` (${hint})`}`;

/** Several errors in the form that Istio's webhook gives them. */
const listed = (errors: readonly string[]): string =>
  errors.length === 1
    ? (errors[0] ?? "")
    : `${errors.length} errors occurred:\n${errors.map((one) => `\t* ${one}\n`).join("")}`;

/** The object in the form that a document has once it is parsed; undefined where it is no object of an API. */
function parsedObject(object: Fields, { namespace, name }: AdmissionRequest): ParsedObject | undefined {
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || !isFields(metadata)) return undefined;
  const own = textOf(metadata.name) || name || textOf(metadata.generateName);
  const space = textOf(metadata.namespace) || namespace;
  const named = { ...metadata, name: own, ...(space === "" ? {} : { namespace: space }) };
  const key = { group: groupVersion(apiVersion).group, kind, name: own, namespace: space };
  return { ...object, apiVersion, kind, metadata: named, origin: { key, file: "", line: 0 } };
}
