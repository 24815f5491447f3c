import { isFields } from "../../base/untyped.ts";
import { error, type Finding, type Path } from "../finding.ts";
import { camelFieldName } from "../read-spec.ts";

/**
 * Findings for numbers that are written as strings. Istio's decoder reads `"80"` as 80; an API server refuses it by the schema of the
 * custom resource, so an object that has one can be in no cluster.
 *
 * @param raw the value as written
 * @param read the same value as its schema has read it
 * @param path of the value
 */
export function numbersAsTexts(raw: unknown, read: unknown, path: Path = []): readonly Finding[] {
  const findings: Finding[] = [];
  collect(raw, read, [...path], findings);
  return findings;
}

/** @param path the same list goes down and comes back: every object of a source passes here */
function collect(raw: unknown, read: unknown, path: (string | number)[], findings: Finding[]): void {
  if (typeof raw === "string") {
    if (typeof read === "number")
      findings.push(error([...path], `${JSON.stringify(raw)} must be a number`, "write it without quotes"));
    return;
  }
  if (Array.isArray(raw)) {
    if (!Array.isArray(read)) return;
    for (let index = 0; index < raw.length; index++) {
      path.push(index);
      collect(raw[index], read[index], path, findings);
      path.pop();
    }
    return;
  }
  if (!isFields(raw) || !isFields(read)) return;
  for (const name in raw) {
    const member = raw[name];
    if (typeof member !== "string" && typeof member !== "object") continue;
    path.push(name);
    collect(member, read[name] ?? read[camelFieldName(name)], path, findings);
    path.pop();
  }
}
