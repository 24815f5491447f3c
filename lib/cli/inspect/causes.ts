import { listIn, memberOf } from "../../base/untyped.ts";
import type { Behind, Place } from "../../trace/decision.ts";
import {
  type Cause,
  type Explanation,
  explainResource,
  type StoredResource,
} from "../../xds/explain/explain-resource.ts";
import type { FieldPath, RootObjects } from "../../xds/explain/root-object.ts";

/** Says which objects, by file and line, are behind what was chosen. */
export type FindCauses = (place: Place) => readonly Cause[];

/**
 * Joins a trace with what made each resource: of a route the rule, of a virtual host its objects, of a filter its policies, else those of
 * the resource as a whole.
 *
 * @param namespace of the node; "" where it is not known
 */
export function causesIn(resources: readonly StoredResource[], objects: RootObjects, namespace: string): FindCauses {
  const byName = new Map(resources.map((one) => [`${one.type}/${one.name}`, one]));
  const explained = new Map<string, Explanation>();
  return ({ type, name, virtualHost, index, behind }) => {
    const key = `${type}/${name}`;
    const resource = byName.get(key);
    if (resource === undefined) return [];
    const explanation = explained.get(key) ?? explainResource(resource, objects, namespace);
    explained.set(key, explanation);
    if (behind !== undefined) return behind.flatMap((one) => causesBehind(one, explanation.causes, objects));
    if (virtualHost === undefined) return explanation.causes;
    const host = explanation.virtualHosts.find((one) => one.name === virtualHost);
    if (index === undefined) return host?.causes ?? [];
    const cause = host?.routes[index]?.cause;
    return cause === undefined ? [] : [cause];
  };
}

/** Of a filter: a policy's rule, the rules of an issuer, or all objects of a kind that are behind the resource. */
function causesBehind(behind: Behind, causes: readonly Cause[], objects: RootObjects): readonly Cause[] {
  if (behind.kind === "kind") return causes.filter(({ object }) => object.startsWith(`${behind.name}/`));
  const at = (key: string, path: FieldPath): Cause => {
    const object = objects.get(key);
    return object === undefined
      ? { object: key, path: [] }
      : { object: key, at: objects.placeOf(object, path), path: object.spec === undefined ? [] : path };
  };
  if (behind.kind === "object") return [at(behind.key, behind.path)];
  return causes.flatMap(({ object: key }) => {
    if (!key.startsWith("RequestAuthentication/")) return [];
    const rules = listIn(objects.get(key)?.spec, "jwtRules");
    return rules.flatMap((rule, index) =>
      (memberOf(rule, "issuer") ?? "") === behind.issuer ? [at(key, ["spec", "jwtRules", index])] : [],
    );
  });
}
