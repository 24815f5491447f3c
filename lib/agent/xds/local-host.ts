import { createBudget } from "../../limits/budget.ts";
import type { CoreType, ResourceType } from "../../snapshot/resource-type.ts";
import type { SecretWatch } from "../../streams/secret-watch.ts";
import type { Reader, StreamHost } from "../../streams/stream.ts";
import { createChangeCounter } from "./change-counter.ts";
import { dueSecrets, type LocalSecrets, localSecrets } from "./local-secrets.ts";
import type { LocalResource, Offer } from "./offer.ts";
import { createOfferedTrees, isCore, type OfferedTrees } from "./offered-trees.ts";
import type { Refusal } from "./refusal-search.ts";

/** What a stream's Envoy reports. */
export interface StreamEvents {
  connected(): void;
  /** What it has from before this stream, by name. */
  hasFromBefore(type: CoreType, versions: ReadonlyMap<string, string>): void;
  /** It has taken some resources. */
  accepted(type: CoreType, resources: readonly LocalResource[]): void;
  /** It has taken all of what is offered. */
  settled(): void;
  refused(refusal: Refusal): void;
}

/** What an agent's Envoy gets. */
export interface LocalState {
  /** Offers something else from now on, also on streams that are open. */
  offer(offer: Offer): void;
  /** The workload's certificate and roots as SDS resources, by name. */
  secrets(resources: ReadonlyMap<string, object>): void;
  /** The server of one more stream; the one before is over. */
  host(events: StreamEvents): StreamHost;
  /** Ends the streams. */
  close(): void;
}

/** Envoy's own stream may remember as much as its configuration takes; the agent has no others. */
const streamBytes = 256 * 1024 * 1024;
const lookMs = 900_000;

export function createLocalState(): LocalState {
  const trees = createOfferedTrees();
  const changes = createChangeCounter();
  let secrets: LocalSecrets = new Map();
  let streams = 0;
  let isClosed = false;

  return {
    offer(next) {
      if (trees.offer(next)) changes.changed();
    },
    secrets(resources) {
      secrets = localSecrets(resources);
      changes.changed();
    },
    host(events) {
      streams += 1;
      const own = streams;
      // The stream before finds that it is over.
      changes.changed();
      events.connected();
      const isOver = () => isClosed || own !== streams;
      return {
        limits: { streamMs: Number.POSITIVE_INFINITY, streamBytes, refusalMs: lookMs, requestMs: 30_000 },
        secretsMs: lookMs,
        sources: trees.sources,
        budget: createBudget(streamBytes),
        isClosed: isOver,
        now: createNow({ trees, events, state: () => String(changes.count()), secrets: () => secrets }),
        waitForChange: (state, timeoutMs, signal) => changes.wait(Number(state), timeoutMs, signal),
        ...reported(trees, events, isOver),
        has() {},
        mended() {},
        counted() {},
        sending() {},
      };
    },
    close() {
      isClosed = true;
      changes.changed();
    },
  };
}

interface NowOptions {
  readonly trees: OfferedTrees;
  readonly events: StreamEvents;
  readonly state: () => string;
  readonly secrets: () => LocalSecrets;
}

/** What is in force for a stream. Reports, once for each type, what its Envoy has from before. */
function createNow({ trees, events, state, secrets }: NowOptions): StreamHost["now"] {
  const reportedTypes = new Set<ResourceType>();
  return async ({ watches }) => {
    for (const [type, { has, owed }] of watches) {
      if (reportedTypes.has(type) || has !== undefined || owed.kind !== "all" || !isCore(type)) continue;
      reportedTypes.add(type);
      events.hasFromBefore(type, owed.known);
    }
    const current = state();
    const offered = [...watches.keys()].flatMap((type) => {
      const tree = trees.treeOf(type);
      return tree === undefined ? [] : [[type, tree] as const];
    });
    if (trees.isEmpty()) return { state: current, force: undefined };
    const force = {
      root: "",
      classId: "",
      trees: new Map(offered),
      dueSecrets: async (watch: SecretWatch) => dueSecrets(watch, secrets()),
    };
    return { state: current, force };
  };
}

/** What Envoy reports on a stream, until another one replaces it. */
function reported(
  trees: OfferedTrees,
  events: StreamEvents,
  isOver: () => boolean,
): Pick<StreamHost, "accepted" | "settled" | "refused"> {
  return {
    accepted({ type }, answer) {
      if (isCore(type) && !isOver()) events.accepted(type, trees.sentIn(answer));
    },
    settled({ watches }: Reader) {
      // Envoy asks for clusters first, and for listeners when these are there.
      if (isOver() || watches.get("listeners") === undefined) return;
      for (const [type, watch] of watches) if (!trees.hasTaken(type, watch)) return;
      events.settled();
    },
    refused({ type }, { answer, names, isNaming, error: words }) {
      if (!isCore(type) || isOver()) return;
      events.refused({ type, answered: trees.sentIn(answer), named: isNaming ? names : undefined, words });
    },
  };
}
