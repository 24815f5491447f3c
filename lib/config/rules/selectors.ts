import { error, type Finding, type Path, warning } from "../finding.ts";
import type { LabelSelector, PolicyTarget, PolicyTargetReference, WorkloadSelector } from "../kinds/selector.ts";
import type { WorkloadSelector as LabelsSelector } from "../kinds/sidecar.ts";
import { isLabelKey, isLabelValue, longestLabelValue } from "./names.ts";
import { each } from "./values.ts";

/** The `matchLabels` form. @see docs/how-istio-does-it/validation.md#single-values */
export function selectorRules(selector: WorkloadSelector | undefined, path: Path): Iterable<Finding> {
  return selector === undefined ? [] : labelsRules(selector.matchLabels, [...path, "matchLabels"], path);
}

/** The `labels` form of the networking kinds. */
export function labelsSelectorRules(selector: LabelsSelector | undefined, path: Path): Iterable<Finding> {
  return selector === undefined ? [] : labelsRules(selector.labels, [...path, "labels"], path);
}

function* labelsRules(
  labels: Readonly<Record<string, string>> | undefined,
  path: Path,
  selectorPath: Path,
): Generator<Finding> {
  if (labels === undefined) {
    yield warning(selectorPath, "a selector without labels selects every workload", "leave the selector out to say so");
    return;
  }
  for (const [key, value] of Object.entries(labels)) {
    if (key === "") yield error([...path, key], "a label key must not be empty");
    if (key.includes("*"))
      yield error([...path, key], `wildcards are not supported in label keys: ${JSON.stringify(key)}`);
    if (value.includes("*")) {
      yield error([...path, key], `wildcards are not supported in label values: ${JSON.stringify(value)}`);
    }
    yield* matchableRules(key, value, [...path, key]);
  }
}

/** A label that no workload can have: Istio takes it, and applies the object to nothing. */
function* matchableRules(key: string, value: string, path: Path): Generator<Finding> {
  if (key === "" || key.includes("*") || value.includes("*")) return;
  if (!isLabelKey(key))
    yield warning(path, `${JSON.stringify(key)} is not a label key: no workload has it`, "correct the key");
  if (isLabelValue(value) && value.length <= longestLabelValue) return;
  const meant = value.trim();
  const hint = isLabelValue(meant) && meant.length <= longestLabelValue ? `write ${JSON.stringify(meant)}` : valueHint;
  yield warning(
    path,
    `${JSON.stringify(value)} is not a label value: no workload has it, and this applies to none`,
    hint,
  );
}

const valueHint = `use letters, digits, -, _ and ., at most ${longestLabelValue}, a letter or digit at both ends`;

/** Kubernetes' label selector, beside the labels that it compares. */
export function* labelSelectorRules(selector: LabelSelector, path: Path): Generator<Finding> {
  yield* each(selector.matchExpressions, [...path, "matchExpressions"], function* ({ operator, values = [] }, at) {
    const comparesValues = operator === "In" || operator === "NotIn";
    if (!comparesValues && operator !== "Exists" && operator !== "DoesNotExist") {
      const hint = "write In, NotIn, Exists or DoesNotExist";
      yield error([...at, "operator"], `${JSON.stringify(operator)} is not an operator`, hint);
    } else if (comparesValues !== values.length > 0) {
      const what = comparesValues ? "needs at least one value" : "takes no values";
      yield error(
        [...at, "values"],
        `${operator} ${what}`,
        "",
        comparesValues ? "missing-field" : "conflicting-fields",
      );
    }
  });
}

const attachable: ReadonlySet<string> = new Set([
  "/Service",
  "core/Service",
  "networking.istio.io/ServiceEntry",
  "gateway.networking.k8s.io/Gateway",
  "gateway.networking.k8s.io/GatewayClass",
]);
const maxReferences = 16;
const groupPattern = /^$|^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** What a policy attaches to. @see docs/how-istio-does-it/validation.md#what-a-policy-attaches-to */
export function* policyTargetRules(target: PolicyTarget): Generator<Finding> {
  const given = [target.selector, target.targetRef, target.targetRefs].filter((part) => part !== undefined);
  if (given.length > 1) {
    yield error([], "only one of selector, targetRef and targetRefs may be given", "", "conflicting-fields");
  }
  yield* selectorRules(target.selector, ["selector"]);
  if (target.targetRef !== undefined) yield* referenceRules(target.targetRef, ["targetRef"]);
  yield* targetRefsRules(target.targetRefs);
}

export function* targetRefsRules(references: readonly PolicyTargetReference[] | undefined): Generator<Finding> {
  if (references !== undefined && references.length > maxReferences) {
    yield error(["targetRefs"], `has more than ${maxReferences} entries`);
  }
  yield* each(references, ["targetRefs"], referenceRules);
}

function* referenceRules(reference: PolicyTargetReference, path: Path): Generator<Finding> {
  const { group = "", kind, name, namespace } = reference;
  if (name === "") yield error([...path, "name"], "is required", "", "missing-field");
  else if (name.length > 253) yield error([...path, "name"], "is longer than 253 characters");
  if (group.length > 253 || !groupPattern.test(group))
    yield error([...path, "group"], `${JSON.stringify(group)} is not an API group`);
  if (namespace !== undefined) {
    yield error([...path, "namespace"], "a policy attaches within its own namespace", "leave the namespace out");
  }
  if (!attachable.has(`${group}/${kind}`)) {
    const hint = "known: Service, ServiceEntry, Gateway and GatewayClass, each with its group";
    yield error([...path, "kind"], `policies cannot attach to ${group === "" ? "core" : group}/${kind}`, hint);
  }
}
