import type { PortTrafficPolicy, TrafficPolicy } from "../../config/kinds/destination-rule.ts";

const portBlocks = ["connectionPool", "outlierDetection", "loadBalancer", "tls"] as const;
const blocks = [...portBlocks, "tunnel", "proxyProtocol", "retryBudget"] as const;

/**
 * A rule's policy, filled from one that a policy of the Gateway API stands for: block by block, for the host and for each port.
 *
 * @see istio 1.31.0 pilot/pkg/model/destination_rule.go, mergeBackendPolicyTrafficPolicy
 */
export function filledPolicy(
  rule: TrafficPolicy | undefined,
  backend: TrafficPolicy | undefined,
): TrafficPolicy | undefined {
  if (rule === undefined || backend === undefined) return rule ?? backend;
  const ports = filledPorts(rule.portLevelSettings ?? [], backend.portLevelSettings ?? []);
  return { ...filled(rule, backend, blocks), ...(ports.length === 0 ? {} : { portLevelSettings: ports }) };
}

function filledPorts(
  rule: readonly PortTrafficPolicy[],
  backend: readonly PortTrafficPolicy[],
): readonly PortTrafficPolicy[] {
  // Of several settings for one port the last one is filled, as in Istio.
  const last = new Map(rule.map((settings) => [numberOf(settings), settings]));
  const own = rule.map((settings) => {
    if (last.get(numberOf(settings)) !== settings) return settings;
    const from = backend.find((other) => numberOf(other) === numberOf(settings));
    return from === undefined ? settings : filled(settings, from, portBlocks);
  });
  return [...own, ...backend.filter((settings) => !last.has(numberOf(settings)))];
}

const numberOf = ({ port }: PortTrafficPolicy): number => port.number ?? 0;

function filled<Policy extends TrafficPolicy | PortTrafficPolicy>(
  policy: Policy,
  from: TrafficPolicy | PortTrafficPolicy,
  names: readonly (typeof blocks)[number][],
): Policy {
  const missing = Object.entries(from).filter(
    ([name]) => names.some((block) => block === name) && !Object.hasOwn(policy, name),
  );
  return { ...policy, ...Object.fromEntries(missing) };
}
