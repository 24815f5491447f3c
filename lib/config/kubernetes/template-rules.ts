import { fieldsOf, stringsOf } from "../../base/untyped.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { error, type Finding } from "../finding.ts";
import { labelAndAnnotationRules } from "../rules/metadata.ts";
import { isSubset } from "../values/labels.ts";
import { podSpecRules } from "./pod-rules.ts";
import { templateOf, templatePath } from "./pod-template.ts";
import { structureFindings } from "./structure.ts";

/**
 * What the API server refuses of a workload's template. A Rollout's other fields are its maker's; its template is a pod's, and
 * may be missing where it names a Deployment that has one.
 */
export function* templateRules(object: ParsedObject): Generator<Finding> {
  const path = templatePath(object.kind);
  const template = templateOf(object);
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
