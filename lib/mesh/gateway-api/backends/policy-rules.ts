import { byCodePoint } from "../../../base/diagnostic.ts";
import { type Config, keyOf } from "../../../config/config.ts";
import type { DestinationRule, PortTrafficPolicy, TrafficPolicy } from "../../../config/kinds/destination-rule.ts";
import { internList } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { made, madeName, parentsAnnotation } from "../made-objects.ts";
import type { BackendSettings, MadePolicy } from "./backend-policies.ts";

/** Older than whatever somebody wrote. */
const beginningOfTimeMs = Date.parse("0001-01-01T00:00:00Z");

/** The destination rules that policies stand for: one for each target and host. */
export function destinationRulesOf(memo: Memo, policies: readonly MadePolicy[]): readonly Config<DestinationRule>[] {
  const groups = new Map<string, BackendSettings[]>();
  for (const settings of policies.flatMap((policy) => policy.settings)) {
    const { kind, name } = settings.target;
    const key = `${kind}/${settings.policy.meta.namespace}/${name}/${settings.host}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [settings]);
    else group.push(settings);
  }
  return [...groups.values()].flatMap((group) => ruleOf(memo, { group: internList(memo, group.toSorted(byAge)) }));
}

const byAge = (a: BackendSettings, b: BackendSettings): number =>
  a.policy.meta.creationTimestampMs - b.policy.meta.creationTimestampMs ||
  byCodePoint(a.policy.meta.namespace, b.policy.meta.namespace) ||
  byCodePoint(a.policy.meta.name, b.policy.meta.name);

/** The oldest policy that says something counts. */
const ruleOf = query(
  "destination rule of policies of the Gateway API",
  ({ group }: { readonly group: readonly BackendSettings[] }): readonly Config<DestinationRule>[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { host, target } = first;
    const policies = [...new Set(group.map(({ policy }) => policy))];
    const name =
      target.kind === "ServiceEntry" || target.kind === "XBackend"
        ? `${target.name}~${host.replaceAll(".", "-")}~${madeName}`
        : `${target.name}~${madeName}`;
    const rule = made<DestinationRule>(first.policy, {
      kind: "DestinationRule",
      name,
      annotations: {
        [parentsAnnotation]: policies.map(({ meta }) => `${meta.kind}/${meta.namespace}.${meta.name}`).join(","),
      },
      spec: { host, trafficPolicy: trafficPolicyOf(group) },
      madeFrom: { spec: ["spec"] },
      alsoMadeFrom: policies.slice(1).map((policy) => keyOf(policy)),
    });
    return [{ ...rule, meta: { ...rule.meta, creationTimestampMs: beginningOfTimeMs } }];
  },
);

function trafficPolicyOf(group: readonly BackendSettings[]): TrafficPolicy {
  const tls = group.find((settings) => settings.tls !== undefined && settings.port === undefined)?.tls;
  const retryBudget = group.find((settings) => settings.retryBudget !== undefined)?.retryBudget;
  const ports = new Map<number, PortTrafficPolicy>();
  for (const { port, tls: ofPort } of group) {
    if (port !== undefined && ofPort !== undefined && !ports.has(port)) {
      ports.set(port, { port: { number: port }, tls: ofPort });
    }
  }
  return {
    ...(tls === undefined ? {} : { tls }),
    ...(retryBudget === undefined ? {} : { retryBudget }),
    ...(ports.size === 0 ? {} : { portLevelSettings: [...ports.values()] }),
  };
}
