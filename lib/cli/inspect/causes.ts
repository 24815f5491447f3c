import type { Place } from "../../trace/decision.ts";
import {
  type Cause,
  type Explanation,
  explainResource,
  type StoredResource,
} from "../../xds/explain/explain-resource.ts";
import type { RootObjects } from "../../xds/explain/root-object.ts";

/** Says which objects, by file and line, are behind what was chosen. */
export type FindCauses = (place: Place) => readonly Cause[];

/**
 * Joins a trace with what made each resource: of a route the rule, of a virtual host its objects, else those of the resource as a whole.
 *
 * @param namespace of the node; "" where it is not known
 */
export function causesIn(resources: readonly StoredResource[], objects: RootObjects, namespace: string): FindCauses {
  const byName = new Map(resources.map((one) => [`${one.type}/${one.name}`, one]));
  const explained = new Map<string, Explanation>();
  return ({ type, name, virtualHost, index }) => {
    const key = `${type}/${name}`;
    const resource = byName.get(key);
    if (resource === undefined) return [];
    const explanation = explained.get(key) ?? explainResource(resource, objects, namespace);
    explained.set(key, explanation);
    if (virtualHost === undefined) return explanation.causes;
    const host = explanation.virtualHosts.find((one) => one.name === virtualHost);
    if (index === undefined) return host?.causes ?? [];
    const cause = host?.routes[index]?.cause;
    return cause === undefined ? [] : [cause];
  };
}
