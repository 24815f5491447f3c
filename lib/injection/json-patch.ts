import type { Fields } from "../base/untyped.ts";
import type { Pod } from "./pod.ts";

/** One operation of a JSON patch (RFC 6902). */
export interface PatchOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

/** What makes one pod of another: each member of its metadata and spec that differs, as a whole. */
export function podPatch(before: Pod, after: Pod): readonly PatchOperation[] {
  return [
    ...differences("/metadata", before.metadata, after.metadata),
    ...differences("/spec", before.spec, after.spec),
  ];
}

function differences(under: string, before: Fields, after: Fields): readonly PatchOperation[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name): readonly PatchOperation[] => {
    const path = `${under}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const [old, next] = [before[name], after[name]];
    if (JSON.stringify(old) === JSON.stringify(next)) return [];
    if (next === undefined) return [{ op: "remove", path }];
    return [{ op: old === undefined ? "add" : "replace", path, value: next }];
  });
}
