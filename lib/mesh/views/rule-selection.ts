import type { Service } from "../../registry/service.ts";
import { destinationRuleFor } from "../index/destination-rule-index.ts";
import type { Labels } from "../label-selector.ts";
import type { Memo } from "../memo/memo.ts";
import type { MeshDestinationRule, SidecarScope } from "../mesh.ts";

/** The rules of a scope that apply to a proxy. */
export interface RuleSelection {
  destinationRule(service: Service): MeshDestinationRule | undefined;
  /** Names those among them that select workloads. */
  readonly key: string;
}

export function selectRules(scope: SidecarScope, labels: Labels, memo: Memo): RuleSelection {
  const { destinationRules: rules, namespace } = scope;
  const selecting = memo([rules], "hosts of selector rules", () =>
    [...rules].filter(([, candidates]) => candidates.some(hasSelector)).map(([hostname]) => hostname),
  );
  const ruleOf = (hostname: string) => destinationRuleFor(rules.get(hostname), "outbound", namespace, labels);
  const selected = selecting.flatMap((hostname) => {
    const rule = ruleOf(hostname);
    return rule !== undefined && hasSelector(rule)
      ? [`${hostname}=${rule.config.meta.namespace}/${rule.config.meta.name}`]
      : [];
  });
  return { destinationRule: (service) => ruleOf(service.hostname), key: selected.join(",") };
}

const hasSelector = ({ config }: MeshDestinationRule): boolean => config.spec.workloadSelector !== undefined;
