import type { ConfigMeta } from "../../config.ts";
import { error, type Finding } from "../../finding.ts";
import type { DestinationRule } from "../../kinds/destination-rule.ts";
import { exportToRules, selectorExportRules } from "../export-to.ts";
import { selectorRules } from "../selectors.ts";
import { dnsLabelRules, duplicates, each, labelSetRules, wildcardDomainRules } from "../values.ts";
import { trafficPolicyRules } from "./traffic-policy.ts";

/** @see docs/how-istio-does-it/kind-rules.md#destinationrule */
export function* destinationRuleRules(spec: DestinationRule, meta: ConfigMeta): Generator<Finding> {
  yield* wildcardDomainRules(spec.host, ["host"]);
  yield* trafficPolicyRules(spec.trafficPolicy, ["trafficPolicy"], meta.namespace);
  const subsets = spec.subsets ?? [];
  for (const [index, name] of duplicates(subsets.map((subset) => subset.name))) {
    yield error(["subsets", index, "name"], `subset ${JSON.stringify(name)} is given twice`);
  }
  yield* each(subsets, ["subsets"], function* (subset, path) {
    yield* dnsLabelRules(subset.name, [...path, "name"]);
    yield* labelSetRules(subset.labels, [...path, "labels"]);
    yield* trafficPolicyRules(subset.trafficPolicy, [...path, "trafficPolicy"], meta.namespace);
  });
  yield* exportToRules(spec.exportTo, meta.namespace);
  if (spec.workloadSelector !== undefined) {
    yield* selectorExportRules(spec.exportTo, meta.namespace);
    yield* selectorRules(spec.workloadSelector, ["workloadSelector"]);
  }
}
