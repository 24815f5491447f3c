import type { Diagnostic, Stage } from "../diagnostic.ts";
import type { ParsedObject } from "../documents/parse.ts";
import type { Finding } from "../finding.ts";
import { error, warning } from "../finding.ts";
import { groupVersion } from "../group-version.ts";
import { located, type ReadOptions } from "../read-config.ts";
import { objectMetaRules } from "../rules/metadata.ts";
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
  if (kind === undefined) return { value: object, diagnostics: [] };
  const findings = [...findingsOf(object, kind, version)].map((finding) => asAsked(finding, options));
  const isRefused = findings.some(({ severity }) => severity === "error");
  const diagnostics: readonly Diagnostic[] = located(findings, object, object.origin, options.sourceOf);
  return { value: isRefused ? undefined : object, diagnostics };
}

function* findingsOf(object: ParsedObject, kind: KubernetesKind, version: string): Generator<Finding> {
  if (kind.versions.length > 0 && !kind.versions.includes(version)) {
    const hint = `known: ${kind.versions.join(", ")}`;
    yield error(["apiVersion"], `"${version}" is no version of ${kind.kind}`, hint, "unknown-version");
    return;
  }
  yield* objectMetaRules(object, kind);
  if (version === kind.structured) {
    const wrong = structureFindings(object, kind.kind, [], notWritten).filter(({ path }) => !isOwnRule(path));
    yield* wrong;
    if (wrong.length > 0) return;
  }
  yield* kind.rules(object);
}

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
