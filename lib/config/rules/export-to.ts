import { error, type Finding, type Path } from "../finding.ts";
import { isDns1123Label } from "./names.ts";

/**
 * Who may see an object.
 * @see docs/how-istio-does-it/validation.md#exportto
 *
 * @param allowNobody whether `~` is allowed, as it is for ServiceEntries
 */
export function* exportToRules(
  exportTo: readonly string[] | undefined,
  namespace: string,
  allowNobody = false,
): Generator<Finding> {
  const entries = exportTo ?? [];
  const seen = new Map<string, string>();
  for (const [index, entry] of entries.entries()) {
    const path: Path = ["exportTo", index];
    if (entry === "~" && !allowNobody) yield error(path, '"~" is for ServiceEntries and services only');
    else if (entry !== "." && entry !== "*" && entry !== "~" && !isDns1123Label(entry)) {
      yield error(path, `${JSON.stringify(entry)} is neither ".", "*" nor a namespace`);
    }
    const resolved = entry === "." ? namespace : entry;
    const earlier = seen.get(resolved);
    if (earlier !== undefined) {
      const both = earlier !== entry;
      yield error(
        path,
        both ? `"." and "${namespace}" are the same namespace` : `${JSON.stringify(entry)} is given twice`,
      );
    }
    seen.set(resolved, entry);
  }
  for (const alone of ["*", "~"]) {
    if (entries.length > 1 && entries.includes(alone)) {
      yield error(["exportTo"], `"${alone}" leaves no room for other entries`, "", "conflicting-fields");
    }
  }
}

/** A rule with a selector is for its own namespace only. */
export function* selectorExportRules(exportTo: readonly string[] | undefined, namespace: string): Generator<Finding> {
  const entries = exportTo ?? [];
  if (entries.length === 0) return;
  if (entries.length > 1 || (entries[0] !== "." && entries[0] !== namespace)) {
    yield error(
      ["exportTo"],
      "a rule with workloadSelector is seen in its own namespace only",
      'write ["."] or leave it out',
    );
  }
}
