import { nearestName } from "../../base/nearest-name.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { error, type Finding, maxFindings } from "../finding.ts";
import { structureFindings } from "../kubernetes/structure.ts";

/** What an object of Istio's kinds or the Gateway API's consists of. */
export const envelopeFields = ["apiVersion", "kind", "metadata", "spec", "status"] as const;

const known: ReadonlySet<string> = new Set([...envelopeFields, "origin"]);

/**
 * Fields beside the spec, and in the metadata, that no object has: an API server refuses them for kubectl, and what they were to
 * say is lost otherwise.
 *
 * @param isFromServer it came from an API server, whose newer releases may have more metadata
 */
export function envelopeRules(object: ParsedObject, isFromServer: boolean): readonly Finding[] {
  const unknown = Object.entries(object).filter(
    ([name, value]) => !known.has(name) && value !== null && value !== undefined,
  );
  const beside = unknown.map(([name], at) => {
    const meant = at < maxFindings ? nearestName(name, envelopeFields) : undefined;
    const hint = meant === undefined ? "put it into the spec" : `did you mean "${meant}"?`;
    return error([name], `unknown field "${name}"`, hint, "unknown-field");
  });
  if (isFromServer) return beside;
  const inMetadata = structureFindings(object.metadata, "ObjectMeta", ["metadata"]);
  return [...beside, ...inMetadata.filter(({ code }) => code === "unknown-field")];
}
