import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { CompiledResource } from "../../snapshot/compiled.ts";
import type { Resource } from "../../xds/resource.ts";
import { type CheckedFor, checkByElements } from "../check-by-elements.ts";
import { encodeResource } from "./encode-resource.ts";
import { partsOf } from "./message-parts.ts";
import { manyElements } from "./message-runs.ts";

/** A resource that Envoy's descriptors refuse is left out and reported: it would cost its neighbours the whole answer. */
export const encodedList = query(
  "encoded resources of a type",
  (
    { type, resources, reader, withBinary }: CheckedFor & { readonly resources: readonly Resource[] },
    memo: Memo,
  ): Stage<readonly CompiledResource[]> => {
    const context = { type, reader, withBinary };
    // Of a long list one look goes over all that stand where they stood.
    const all =
      resources.length < manyElements
        ? resources.map((resource) => checkedAndEncoded(memo, { ...context, resource }))
        : eachEncoded(memo, `${type}|${reader}|${resources.length}|${resources[0]?.name}`, resources, context);
    const value: CompiledResource[] = [];
    const diagnostics: Diagnostic[] = [];
    for (const encoded of all) {
      if (encoded.kind === "accepted") value.push(encoded.compiled);
      else diagnostics.push(encoded.diagnostic);
    }
    return { value, diagnostics };
  },
);

type Encoded =
  | { readonly kind: "accepted"; readonly compiled: CompiledResource }
  | { readonly kind: "refused"; readonly diagnostic: Diagnostic };

/** By the resource as a whole: a thousand classes share nearly all of theirs, so one look-up has to do. */
const checkedAndEncoded = query(
  "checked and encoded resource",
  (as: CheckedFor & { readonly resource: Resource }, memo: Memo): Encoded => {
    const { resource } = as;
    const parts = partsOf(resource, as, memo);
    const diagnostic = checkByElements(resource, as, memo, parts);
    return diagnostic === undefined
      ? { kind: "accepted", compiled: encodeResource(resource, as, memo, parts) }
      : { kind: "refused", diagnostic };
  },
);

const eachEncoded = mappedList(
  "checked and encoded resources",
  (resource: Resource, _: undefined, context: CheckedFor, memo: Memo): Encoded =>
    checkedAndEncoded(memo, { ...context, resource }),
);
