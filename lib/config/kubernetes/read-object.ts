import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { ParsedObject } from "../documents/parse.ts";
import type { Finding } from "../finding.ts";
import { error, warning } from "../finding.ts";
import { located, type ReadOptions } from "../read-config.ts";
import { objectMetaRules } from "../rules/metadata.ts";
import { groupVersion } from "../values/group-version.ts";
import { type KubernetesKind, kubernetesKindOf } from "./kinds.ts";
import { structureFindings } from "./structure.ts";

/**
 * Checks an object of one of Kubernetes' own kinds, as strictly as the API server does for kubectl. What it leaves out to be
 * filled in by the server may be missing, and so may what only a kubelet needs, such as containers.
 *
 * @returns the object itself; undefined for one that is refused; diagnostics `unknown-field`, `invalid-value`,
 *   `missing-field` and `unknown-version`
 */
export function readKubernetesObject(object: ParsedObject, options: ReadOptions = {}): Stage<ParsedObject | undefined> {
  const { group, version } = groupVersion(object.apiVersion);
  const kind = kubernetesKindOf(group, object.kind);
  if (kind === undefined || options.skipRules === true) return { value: object, diagnostics: [] };
  const found = findingsOf(object, kind, version);
  if (found.length === 0) return { value: object, diagnostics: [] };
  const findings = found.map((finding) => asAsked(finding, options));
  const isRefused = findings.some(({ severity }) => severity === "error");
  const diagnostics: readonly Diagnostic[] = located(findings, object, object.origin, options.sourceOf);
  return { value: isRefused ? undefined : object, diagnostics };
}

/** A list, as of all rules of pods: ten thousand of them are checked, most of which nothing is said of, and a generator costs more than its rules. */
function findingsOf(object: ParsedObject, kind: KubernetesKind, version: string): readonly Finding[] {
  if (kind.versions.length > 0 && !kind.versions.includes(version)) {
    const hint = `known: ${kind.versions.join(", ")}`;
    return [error(["apiVersion"], `"${version}" is no version of ${kind.kind}`, hint, "unknown-version")];
  }
  const ofMetadata = objectMetaRules(object, kind);
  const wrong =
    version === kind.structured
      ? structureFindings(object, kind.kind, [], notWritten).filter(({ path }) => !isOwnRule(path))
      : none;
  return [...ofMetadata, ...wrong, ...(wrong.length > 0 ? none : kind.rules(object))];
}

const none: readonly never[] = [];

/** What reading an object has put beside what was written. */
const notWritten: readonly string[] = ["origin"];

/** Labels and annotations have rules of their own, which say more. */
function isOwnRule([first, second]: Finding["path"]): boolean {
  return first === "metadata" && (second === "labels" || second === "annotations");
}

/** A source that mirrors a cluster reads what a newer server has written. */
function asAsked(finding: Finding, { unknownFields = "refuse" }: ReadOptions): Finding {
  if (unknownFields === "refuse" || finding.code !== "unknown-field") return finding;
  return warning(finding.path, finding.message, finding.hint, finding.code);
}
