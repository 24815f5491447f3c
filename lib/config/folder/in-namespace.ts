import { fromOldSpelling } from "../documents/old-spelling.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { schemaOf } from "../kind-registry.ts";
import { kubernetesKindOf } from "../kubernetes/kinds.ts";
import { namespaceOf, type ReadOptions } from "../read-config.ts";
import { groupVersion } from "../values/group-version.ts";

/** Objects as they were made from those that name no namespace: what did not change stays the same object. */
const placed = new WeakMap<ParsedObject, { readonly namespace: string; readonly object: ParsedObject }>();

/**
 * An object with the namespace that it is in, in its metadata and its key, so that whoever reads on finds one and the same.
 *
 * @returns the object itself where it names its namespace, has none, or is of a kind of which nobody knows whether it has one
 */
export function inNamespace(object: ParsedObject, options: Pick<ReadOptions, "namespace">): ParsedObject {
  if (object.metadata.namespace !== undefined || isClusterScoped(object) !== false) return object;
  const namespace = namespaceOf(undefined, options);
  const before = placed.get(object);
  if (before?.namespace === namespace) return before.object;
  const { metadata, origin } = object;
  const there = {
    ...object,
    metadata: { ...metadata, namespace },
    origin: { ...origin, key: { ...origin.key, namespace } },
  };
  placed.set(object, { namespace, object: there });
  return there;
}

/** undefined for a kind that nothing here knows. */
function isClusterScoped(object: ParsedObject): boolean | undefined {
  const { apiVersion, kind } = fromOldSpelling(object);
  const { group } = groupVersion(apiVersion);
  return schemaOf(group, kind)?.clusterScoped ?? kubernetesKindOf(group, object.kind)?.isClusterScoped;
}
