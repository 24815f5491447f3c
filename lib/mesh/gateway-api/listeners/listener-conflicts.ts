import { byCodePoint } from "../../../base/diagnostic.ts";
import type { Config } from "../../../config/config.ts";
import type { KubernetesGateway, Listener, ListenerSet } from "../../../config/gateway-api/gateway.ts";

/** Names of listeners that lose to an earlier one → what about it conflicts. A plain value. */
export type Conflicts = Readonly<Record<string, "ProtocolConflict" | "HostnameConflict">>;

export const noConflicts: Conflicts = {};

/** @returns undefined for a listener that loses to none, whatever its name */
export const conflictOf = (name: string, conflicts: Conflicts): Conflicts[string] | undefined =>
  Object.hasOwn(conflicts, name) ? conflicts[name] : undefined;

export interface GatewayConflicts {
  readonly ofGateway: Conflicts;
  readonly ofListenerSets: ReadonlyMap<Config<ListenerSet>, Conflicts>;
}

/**
 * Which listeners of a Gateway and of its ListenerSets cannot stand beside an earlier one: the Gateway's come first, then those of the
 * sets, oldest first. One that loses leaves its place to others.
 *
 * @param listenerSets those that the Gateway takes, in any order
 * @see istio 1.31.0 pilot/pkg/config/kube/gatewaycommon/listener_conflict.go
 */
export function listenerConflicts(
  gateway: Config<KubernetesGateway>,
  listenerSets: readonly Config<ListenerSet>[],
): GatewayConflicts {
  const standing: Listener[] = [];
  const conflictsIn = (listeners: readonly Listener[]): Conflicts => {
    const lost: [string, Conflicts[string]][] = [];
    for (const listener of listeners) {
      const earlier = standing.find((other) => !canStandBeside(listener, other));
      if (earlier === undefined) standing.push(listener);
      else lost.push([listener.name, reasonOf(listener, earlier)]);
    }
    return lost.length === 0 ? noConflicts : Object.fromEntries(lost);
  };
  const ofGateway = conflictsIn(gateway.spec.listeners);
  const sets = listenerSets.toSorted(byAge);
  return { ofGateway, ofListenerSets: new Map(sets.map((set) => [set, conflictsIn(set.spec.listeners)])) };
}

const byAge = ({ meta: a }: Config, { meta: b }: Config): number =>
  a.creationTimestampMs - b.creationTimestampMs || byCodePoint(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`);

const withoutHosts: ReadonlySet<string> = new Set(["TCP", "UDP"]);
const withHosts: ReadonlySet<string> = new Set(["HTTP", "HTTPS", "TLS"]);

function canStandBeside(a: Listener, b: Listener): boolean {
  if (a.port !== b.port) return true;
  if (withHosts.has(a.protocol) && withHosts.has(b.protocol)) return hostOf(a) !== hostOf(b);
  const areKnown = [a, b].every(({ protocol }) => withoutHosts.has(protocol) || withHosts.has(protocol));
  return !areKnown && a.protocol !== b.protocol;
}

const hostOf = ({ hostname = "" }: Listener): string => (hostname === "" ? "*" : hostname);

const reasonOf = (a: Listener, b: Listener): Conflicts[string] =>
  a.protocol !== b.protocol || withoutHosts.has(a.protocol) ? "ProtocolConflict" : "HostnameConflict";
