import { fieldsOf, numberOf, textOf } from "../../base/untyped.ts";
import type { ParentReference } from "./reference.ts";

/** A reference as a text; those of one parent that differ in how they are written only have one. */
export function parentText(ref: ParentReference, routeNamespace: string): string {
  const { group, kind, name, sectionName = "", port = 0, namespace = routeNamespace } = ref;
  return `${group}/${kind}/${name}/${sectionName}/${port}.${namespace}`;
}

/** A reference of a status, which nobody has validated. */
export function readParentReference(written: unknown): ParentReference {
  const { group, kind, name, namespace, sectionName, port } = fieldsOf(written);
  const number = numberOf(port);
  return {
    group: typeof group === "string" ? group : "gateway.networking.k8s.io",
    kind: typeof kind === "string" ? kind : "Gateway",
    name: textOf(name),
    ...(typeof namespace === "string" ? { namespace } : {}),
    ...(typeof sectionName === "string" ? { sectionName } : {}),
    ...(number === undefined ? {} : { port: number }),
  };
}
