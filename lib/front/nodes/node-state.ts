/** The one model of a node's state: what the API, the command line, the metrics and the console show is read from it. */
import { parseNodeId } from "../../base/classifier.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import type { NodeResource, NodeStatus, NodeTransport } from "./node-watch.ts";

/**
 * Whether a node is heard. `connected`: it has a stream or a held poll open, or has asked within three poll intervals. `stale`: it has
 * missed three, or its stream has ended. `gone`: it has missed ten, and a minute at least.
 */
export type Presence = "connected" | "stale" | "gone";

/**
 * `synced`: the node has accepted what is in force for it. `stale`: it has accepted something else, or is not heard any more. `refused`: it
 * was served what is in force, does not take it, and keeps what it has. `taken`: it has it, and no snapshot says what is in force, as of
 * secrets. `gone`: the node is gone.
 */
export type ResourceState = "synced" | "stale" | "refused" | "taken" | "gone";

/** Of a node, the worst of its resources; `not-sent` where it has none. */
export const nodeConditions = ["synced", "stale", "refused", "not-sent", "gone"] as const;
export type NodeCondition = (typeof nodeConditions)[number];

/** How many nodes are in each state. */
export function countedNodes(nodes: readonly Pick<NodeState, "state">[]): Readonly<Record<NodeCondition, number>> {
  const counts = { synced: 0, stale: 0, refused: 0, "not-sent": 0, gone: 0 };
  for (const { state } of nodes) counts[state] += 1;
  return counts;
}

/** What a refused answer may be refused for. */
export interface RefusedPart {
  /** Name of the Envoy resource. */
  readonly resource: string;
  /** Objects that it was made from: `Kind/namespace/name`. */
  readonly from: readonly string[];
  /** Where they stand, `catalog.yaml:97`; empty where the sources are not at hand. */
  readonly at: readonly string[];
}

/** What a node refuses. */
export interface RefusedState {
  /** The version that it was served. */
  readonly version: string;
  /** RFC 3339. */
  readonly since: string;
  /** The node's own words; absent over REST, which has none. */
  readonly reason?: string;
  /** At most 20. */
  readonly parts: readonly RefusedPart[];
}

/** A type of resources, or one that is asked for by name. */
export interface ResourceStanding {
  readonly type: string;
  readonly name?: string;
  readonly state: ResourceState;
  /** The version that is served; absent where none is in force, or none is known as of secrets. */
  readonly served?: string;
  /** The version that the node has accepted last; "" for none. */
  readonly accepted: string;
  /** When it first said so, RFC 3339. */
  readonly since: string;
  readonly transport: NodeTransport;
  readonly refused?: RefusedState;
}

export interface NodeState {
  readonly node: string;
  /** `pod.namespace` where its id has it. */
  readonly name: string;
  readonly cluster?: string;
  readonly class?: string;
  readonly state: NodeCondition;
  readonly presence: Presence;
  /** When it was last heard, RFC 3339; of a connected node, about now. */
  readonly lastSeen: string;
  readonly resources: readonly ResourceStanding[];
  /** Types of which there is something for it, and of which it has nothing. */
  readonly notSent: readonly ResourceType[];
}

/** A resource, and what is served of it: the version in force, then those of steps to come that the node may have been served already. */
export interface HeldAgainst {
  readonly resource: NodeResource;
  /** undefined for a type of which no snapshot says what is in force. */
  readonly served: readonly (string | undefined)[] | undefined;
  readonly parts: readonly RefusedPart[];
}

/** What is known of a node beside its own status. */
export interface NodeFacts {
  readonly class: string | undefined;
  readonly resources: readonly HeldAgainst[];
  readonly notSent: readonly ResourceType[];
}

/** So many poll intervals without a word make a node stale, and so many gone. */
export const staleIntervals = 3;
const goneIntervals = 10;
/** No node is gone before this. */
const goneMs = 60_000;

export function presenceOf(
  { seen, isOpen, pauseMs }: Pick<NodeStatus, "seen" | "isOpen" | "pauseMs">,
  nowMs: number,
): Presence {
  const silentMs = nowMs - Date.parse(seen);
  if (isOpen || silentMs < staleIntervals * pauseMs) return "connected";
  return silentMs < Math.max(goneIntervals * pauseMs, goneMs) ? "stale" : "gone";
}

/** @param nowMs on the clock by which `status.seen` was written */
export function nodeStateOf(
  status: NodeStatus,
  { class: classId, resources, notSent }: NodeFacts,
  nowMs: number,
): NodeState {
  const { node, cluster, seen } = status;
  const presence = presenceOf(status, nowMs);
  const active = resources.map((one) => resourceStanding(one, presence));
  return {
    node,
    name: parseNodeId(node)?.name ?? node,
    ...(cluster === undefined ? {} : { cluster }),
    ...(classId === undefined ? {} : { class: classId }),
    state: conditionOf(active, presence),
    presence,
    lastSeen: seen,
    resources: active,
    notSent,
  };
}

function conditionOf(resources: readonly ResourceStanding[], presence: Presence): NodeCondition {
  if (presence !== "connected") return presence;
  if (resources.length === 0) return "not-sent";
  return (["refused", "stale"] as const).find((wanted) => resources.some(({ state }) => state === wanted)) ?? "synced";
}

function resourceStanding({ resource, served, parts }: HeldAgainst, presence: Presence): ResourceStanding {
  const { type, name, version, since, transport, refused } = resource;
  const own = stateOf(resource, served);
  return {
    type,
    ...(name === undefined ? {} : { name }),
    state: presence === "connected" ? own : presence,
    ...(served?.[0] === undefined ? {} : { served: served[0] }),
    accepted: version,
    since,
    transport,
    // What a node has overcome since, and what it refused of a version that is served no more, is not spoken of.
    ...(refused === undefined || own !== "refused"
      ? {}
      : {
          refused: {
            version: refused.version,
            since: refused.since,
            ...(refused.error === undefined ? {} : { reason: refused.error }),
            parts,
          },
        }),
  };
}

function stateOf({ version, refused }: NodeResource, served: HeldAgainst["served"]): ResourceState {
  if (served === undefined) return refused === undefined ? "taken" : "refused";
  if (served.includes(version)) return "synced";
  return refused !== undefined && served.includes(refused.version) ? "refused" : "stale";
}
