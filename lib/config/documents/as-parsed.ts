import { type Fields, fieldsOf, textOf } from "../../base/untyped.ts";
import { groupVersion } from "../values/group-version.ts";
import type { ParsedObject } from "./parse.ts";

/**
 * An object that came as JSON from a server, as the readers take it. What its envelope lacks is "".
 *
 * @param file where it stands, as messages name the place
 */
export function asParsed({ apiVersion, kind, metadata, ...fields }: Fields, file: string): ParsedObject {
  const { name, namespace: space, ...more } = fieldsOf(metadata);
  const namespace = textOf(space);
  const key = { group: groupVersion(textOf(apiVersion)).group, kind: textOf(kind), name: textOf(name), namespace };
  return {
    ...fields,
    apiVersion: textOf(apiVersion),
    kind: key.kind,
    metadata: { ...more, name: key.name, ...(namespace === "" ? {} : { namespace }) },
    origin: { key, file, line: 0 },
  };
}
