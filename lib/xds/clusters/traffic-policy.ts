import type { DestinationRule, Subset, TrafficPolicy } from "../../config/kinds/destination-rule.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";

/** Effective policy of one subset and port. @see docs/how-istio-does-it/destination-rules.md#effective-policy */
export type EffectiveTrafficPolicy = Omit<TrafficPolicy, "portLevelSettings">;

/** The subset of a rule by name; undefined for "" and unknown names. */
export function subsetOf(rule: MeshDestinationRule | undefined, name: string): Subset | undefined {
  return name === "" ? undefined : rule?.config.spec.subsets?.find((subset) => subset.name === name);
}

/**
 * The policy of one level for one service port. An entry for the port replaces everything at that level; what it does
 * not state is unset, not inherited.
 */
function forPort(
  policy: TrafficPolicy | undefined,
  port: number,
): { readonly policy: EffectiveTrafficPolicy | undefined; readonly portLevel: boolean } {
  if (policy === undefined) return { policy: undefined, portLevel: false };
  const entry = policy.portLevelSettings?.find((setting) => setting.port.number === port);
  if (entry !== undefined) {
    const { port: _port, ...settings } = entry;
    return { policy: settings, portLevel: true };
  }
  const { portLevelSettings: _entries, ...settings } = policy;
  return { policy: settings, portLevel: false };
}

/** The four settings that a port-level entry can carry, and that it unsets where it is silent. */
const portLevelFields = ["connectionPool", "outlierDetection", "loadBalancer", "tls"] as const;

/** Blocks that the mesh has for whoever states none. */
type Defaults = MeshConfig["defaultTrafficPolicy"];

/** A policy of a host with the mesh's blocks where it has none. */
function filled(policy: EffectiveTrafficPolicy | undefined, defaults: Defaults): EffectiveTrafficPolicy | undefined {
  return defaults === undefined ? policy : { ...defaults, ...policy };
}

/**
 * What applies to one subset ("" for the whole service) and one service port.
 *
 * A field set in the subset's policy replaces the whole field of the destination's. A port-level entry of the subset
 * replaces pool, outlier detection, balancer and TLS even where it says nothing about them. Those of the destination are the mesh's where
 * they are not stated; what an entry of a subset takes away stays away.
 *
 * @param defaults of the mesh; absent: none
 * @see docs/how-istio-does-it/destination-rules.md#effective-policy
 */
export function effectivePolicy(
  rule: MeshDestinationRule | undefined,
  subsetName: string,
  port: number,
  defaults?: Defaults,
): EffectiveTrafficPolicy | undefined {
  const spec: DestinationRule | undefined = rule?.config.spec;
  const base = filled(forPort(spec?.trafficPolicy, port).policy, defaults);
  const subset = forPort(subsetOf(rule, subsetName)?.trafficPolicy, port);
  if (subset.policy === undefined) return base;
  if (base === undefined) return subset.policy;
  if (!subset.portLevel) return { ...base, ...subset.policy };
  const kept: Record<string, unknown> = { ...base };
  for (const field of portLevelFields) delete kept[field];
  return { ...kept, ...subset.policy };
}
