import { fieldsOf, listOf, stringsOf, textOf } from "../../base/untyped.ts";
import type { Labels } from "../../config/values/labels.ts";
import { regionLabel, subzoneLabel, zoneLabel } from "../labels.ts";
import type { KubernetesObject } from "./object.ts";

/** What a registry reads of a Node. */
export interface Node {
  readonly name: string;
  readonly labels: Labels;
  /** `region/zone/subzone`, always with both slashes; "" when all three are unknown. */
  readonly locality: string;
  /** Addresses of type ExternalIP. */
  readonly externalAddresses: readonly string[];
}

function firstOf(labels: Labels, ...names: readonly string[]): string {
  for (const name of names) {
    const value = labels[name];
    if (value !== undefined && value !== "") return value;
  }
  return "";
}

/** Reads a Node; of the current and the deprecated topology labels the current one wins. */
export function nodeOf(object: KubernetesObject): Node {
  const labels = stringsOf(object.metadata.labels);
  const region = firstOf(labels, regionLabel, "failure-domain.beta.kubernetes.io/region");
  const zone = firstOf(labels, zoneLabel, "failure-domain.beta.kubernetes.io/zone");
  const subzone = firstOf(labels, subzoneLabel);
  const known = region !== "" || zone !== "" || subzone !== "";
  const externalAddresses: string[] = [];
  for (const entry of listOf(fieldsOf(object.status).addresses)) {
    const { type, address } = fieldsOf(entry);
    if (type === "ExternalIP" && textOf(address) !== "") externalAddresses.push(textOf(address));
  }
  return {
    name: object.metadata.name,
    labels,
    locality: known ? `${region}/${zone}/${subzone}` : "",
    externalAddresses,
  };
}

/** Says whether two readings of a Node mean the same to the mesh; a node's heartbeat changes nothing here. */
export function sameNode(a: Node, b: Node): boolean {
  return (
    a.locality === b.locality &&
    a.externalAddresses.join() === b.externalAddresses.join() &&
    JSON.stringify(a.labels) === JSON.stringify(b.labels)
  );
}
