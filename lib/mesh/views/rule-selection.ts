import type { Labels } from "../../config/values/labels.ts";
import { internList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Service } from "../../registry/service.ts";
import { destinationRuleFor, type MeshDestinationRule } from "../index/destination-rule-index.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import type { RuleLookup } from "./views.ts";

/** The rules of a scope that apply to a proxy. */
export interface RuleSelection {
  readonly destinationRule: RuleLookup;
  /** Hosts and names of those among them that select workloads. */
  readonly names: readonly string[];
}

export function selectRules(
  scope: Pick<SidecarScope, "destinationRules" | "namespace">,
  labels: Labels,
  memo: Memo,
): RuleSelection {
  const { destinationRules: rules, namespace } = scope;
  const chosen = hostsOfSelectorRules(memo, { rules }).flatMap(
    (hostname): readonly (readonly [string, MeshDestinationRule])[] => {
      const rule = destinationRuleFor(rules.get(hostname), "outbound", namespace, labels);
      return rule !== undefined && hasSelector(rule) ? [[hostname, rule]] : [];
    },
  );
  return ruleSelection(memo, {
    rules,
    hosts: chosen.map(([hostname]) => hostname),
    chosen: internList(
      memo,
      chosen.map(([, rule]) => rule),
    ),
  });
}

const hostsOfSelectorRules = query("hosts of selector rules", ({ rules }: Pick<SelectionInputs, "rules">) =>
  [...rules].filter(([, candidates]) => candidates.some(hasSelector)).map(([hostname]) => hostname),
);

interface SelectionInputs {
  readonly rules: SidecarScope["destinationRules"];
  /** Where a rule with a selector applies, and those rules. */
  readonly hosts: readonly string[];
  readonly chosen: readonly MeshDestinationRule[];
}

const ruleSelection = query(
  "rule selection",
  { hosts: "value" },
  ({ rules, hosts, chosen }: SelectionInputs): RuleSelection => {
    const selected = new Map(chosen.map((rule, at): [string, MeshDestinationRule] => [hosts[at] ?? "", rule]));
    const general = ({ hostname }: Service) => rules.get(hostname)?.findLast((rule) => !hasSelector(rule));
    return {
      destinationRule: selected.size === 0 ? general : (service) => selected.get(service.hostname) ?? general(service),
      names: [...selected].map(([host, { config }]) => `${host}=${config.meta.namespace}/${config.meta.name}`),
    };
  },
);

const hasSelector = ({ config }: MeshDestinationRule): boolean => config.spec.workloadSelector !== undefined;
