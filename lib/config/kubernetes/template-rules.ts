import { error, type Finding, type Path } from "../finding.ts";
import { isSubset } from "../labels.ts";
import type { ParsedObject } from "../parse.ts";
import { labelAndAnnotationRules } from "../rules/metadata.ts";
import { fieldsOf, stringsOf } from "../untyped.ts";
import { podSpecRules } from "./pod-rules.ts";
import { structureFindings } from "./structure.ts";

/** Where a workload keeps the template of its pods. */
function templatePath(kind: string): Path {
  return kind === "CronJob" ? ["spec", "jobTemplate", "spec", "template"] : ["spec", "template"];
}

/** What stands at a path of an object; undefined where it leads nowhere. */
function valueAt(object: ParsedObject, path: Path): unknown {
  return path.reduce<unknown>((value, step) => fieldsOf(value)[step], object);
}

/**
 * What the API server refuses of a workload's template. A Rollout's other fields are its maker's; its template is a pod's, and
 * may be missing where it names a Deployment that has one.
 */
export function* templateRules(object: ParsedObject): Generator<Finding> {
  const path = templatePath(object.kind);
  const template = fieldsOf(valueAt(object, path));
  if (object.kind === "Rollout") yield* structureFindings(template, "PodTemplateSpec", path);
  const { labels, annotations } = fieldsOf(template.metadata);
  yield* labelAndAnnotationRules({ labels, annotations }, [...path, "metadata"]);
  yield* podSpecRules(template.spec, [...path, "spec"]);
  const selected = stringsOf(fieldsOf(fieldsOf(object.spec).selector).matchLabels);
  if (object.kind !== "Job" && labels !== undefined && !isSubset(selected, stringsOf(labels))) {
    const hint = "a workload's selector has to select the pods that it makes";
    yield error(["spec", "selector", "matchLabels"], "the template's labels are others", hint);
  }
}
