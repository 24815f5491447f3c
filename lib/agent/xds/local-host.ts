import { hashOf } from "../../base/blob.ts";
import { createBudget } from "../../limits/budget.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedTree } from "../../snapshot/reader/loaded.ts";
import { type CoreType, coreTypes, type ResourceType } from "../../snapshot/resource-type.ts";
import { createDifferences } from "../../streams/differences.ts";
import type { Sources } from "../../streams/due.ts";
import { namesIn, valueOf } from "../../streams/name-map.ts";
import { secretBinary } from "../../streams/secret-binary.ts";
import { afterSent, type SecretDue, type SecretWatch, sentOf } from "../../streams/secret-watch.ts";
import type { Reader, StreamHost } from "../../streams/stream.ts";
import type { SentAnswer, Watch } from "../../streams/watch.ts";
import type { Refusal } from "./envoy-rollout.ts";
import type { LocalResource, LocalResources, Offer } from "./offer.ts";
import { createLocalTrees } from "./trees.ts";

/** What a stream's Envoy says. */
export interface StreamEvents {
  connected(): void;
  /** What it has from before this stream, by name. */
  knows(type: CoreType, versions: ReadonlyMap<string, string>): void;
  /** It has taken some resources. */
  accepted(type: CoreType, resources: readonly LocalResource[]): void;
  /** It has taken all of what is offered. */
  settled(): void;
  refused(refusal: Refusal): void;
}

/** What an agent's Envoy gets. */
export interface LocalState {
  /** Tells something else from now on, also on streams that are open. */
  offer(offer: Offer): void;
  /** The workload's certificate and roots as SDS resources, by name. */
  secrets(resources: ReadonlyMap<string, object>): void;
  /** The server of one more stream; the one before is over. */
  host(events: StreamEvents): StreamHost;
  /** Ends the streams. */
  close(): void;
}

/** Envoy's own stream may remember what its configuration weighs; the agent has no others. */
const streamBytes = 256 * 1024 * 1024;
const differencesBytes = 4 * 1024 * 1024;
const lookMs = 900_000;

/** A stream forgets an answer that nobody has said a word about when eight others of its type are under way. */
const maxRecent = 8 * coreTypes.length;

interface Secret {
  readonly version: string;
  readonly value: Uint8Array;
}

export function createLocalState(): LocalState {
  const trees = createLocalTrees();
  const { reader } = trees;
  const sources: Sources = { reader, differences: createDifferences(reader, differencesBytes), known: new WeakMap() };
  let offered: Offer | undefined;
  let secrets: ReadonlyMap<string, Secret> = new Map();
  let changes = 0;
  let streams = 0;
  let isClosed = false;
  const waiting = new Set<() => void>();

  function changed(): void {
    changes += 1;
    for (const wake of waiting) wake();
  }

  /** What answers under way were made from, by the version that they name; the latest last. */
  let recent: readonly { readonly version: string; readonly resources: LocalResources }[] = [];

  function treeOf(type: ResourceType): LoadedTree | undefined {
    if (offered === undefined || !isCore(type)) return undefined;
    const resources = offered[type];
    const tree = trees.treeOf(resources);
    const version = wireVersion(tree.version);
    if (!recent.some((one) => one.version === version)) recent = [...recent, { version, resources }].slice(-maxRecent);
    return tree;
  }

  /** What an answer has brought. */
  function sentIn({ names, version }: SentAnswer): readonly LocalResource[] {
    const sent = recent.find((one) => one.version === version)?.resources;
    return names.flatMap((name) => sent?.get(name) ?? []);
  }

  /** Whether Envoy has accepted what is offered of a type. What it refused and is not offered any more counts for nothing. */
  function hasTaken(type: ResourceType, { has, open, refused, names, owed }: Watch): boolean {
    const tree = treeOf(type);
    const isFollowed = (name: string) => names === "all" || valueOf(names, name) !== undefined;
    return (
      tree === undefined ||
      (has?.version === tree.version &&
        open.length === 0 &&
        owed.kind === "nothing" &&
        !namesIn(refused).some(isFollowed))
    );
  }

  function settled({ watches }: Reader, events: StreamEvents): void {
    // Envoy asks for clusters first, and for listeners when these are there.
    if (watches.get("listeners") === undefined) return;
    for (const [type, watch] of watches) if (!hasTaken(type, watch)) return;
    events.settled();
  }

  return {
    offer(next) {
      if (next === offered) return;
      offered = next;
      changed();
    },
    secrets(resources) {
      secrets = new Map(
        [...resources].map(([name, resource]) => {
          const value = secretBinary(resource);
          return [name, { version: wireVersion(hashOf(value)), value }];
        }),
      );
      changed();
    },
    host(events) {
      streams += 1;
      const own = streams;
      const known = new Set<ResourceType>();
      const isOver = () => isClosed || own !== streams;
      // The one before finds that it is over.
      changed();
      events.connected();
      return {
        limits: { streamMs: Number.POSITIVE_INFINITY, streamBytes, refusalMs: lookMs, requestMs: 30_000 },
        secretsMs: lookMs,
        sources,
        budget: createBudget(streamBytes),
        isClosed: isOver,
        async now({ watches }) {
          for (const [type, { has, owed }] of watches) {
            if (known.has(type) || has !== undefined || owed.kind !== "all" || !isCore(type)) continue;
            known.add(type);
            events.knows(type, owed.known);
          }
          const state = String(changes);
          const found = [...watches.keys()].map((type) => [type, treeOf(type)] as const);
          const there = new Map(found.flatMap(([type, tree]) => (tree === undefined ? [] : [[type, tree] as const])));
          const force =
            offered === undefined
              ? undefined
              : {
                  root: "",
                  classId: "",
                  trees: there,
                  dueSecrets: async (watch: SecretWatch) => dueOf(watch, secrets),
                };
          return { state, force };
        },
        waitForChange: (state, timeoutMs, signal) =>
          new Promise<void>((resolve) => {
            if (state !== String(changes) || signal.aborted) return resolve();
            const go = () => {
              clearTimeout(timer);
              waiting.delete(go);
              signal.removeEventListener("abort", go);
              resolve();
            };
            const timer = setTimeout(go, timeoutMs);
            waiting.add(go);
            signal.addEventListener("abort", go);
          }),
        has() {},
        accepted({ type }, answer) {
          if (isCore(type) && !isOver()) events.accepted(type, sentIn(answer));
        },
        settled(reader) {
          if (!isOver()) settled(reader, events);
        },
        refused({ type }, { answer, names, isNaming, error: words }) {
          if (!isCore(type) || isOver()) return;
          events.refused({ type, answered: sentIn(answer), named: isNaming ? names : undefined, words });
        },
        mended() {},
        counted() {},
        sending() {},
      };
    },
    close() {
      isClosed = true;
      changed();
    },
  };
}

const isCore = (type: string): type is CoreType => coreTypes.some((core) => core === type);

/** What a stream lacks of secrets. */
function dueOf(before: SecretWatch, secrets: ReadonlyMap<string, Secret>): SecretDue {
  const { names } = before.watch;
  const wanted = names === "all" ? [] : namesIn(names);
  const sent = new Map(wanted.flatMap((name) => sentOf(before, name)));
  const now = new Map(wanted.map((name) => [name, secrets.get(name)?.version ?? ""]));
  const isOther = (name: string) => sent.get(name) !== now.get(name);
  const changed = wanted.flatMap((name) => {
    const secret = secrets.get(name);
    return secret === undefined || !isOther(name) ? [] : [{ name, ...secret }];
  });
  const missing = wanted.filter((name) => !secrets.has(name) && isOther(name));
  return {
    isAnswer: before.isOwed || changed.length > 0 || missing.length > 0,
    changed,
    missing,
    version: wireVersion(hashOf([...now].map((pair) => pair.join()).join(";"))),
    after: afterSent(before, now),
  };
}
