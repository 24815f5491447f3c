import { shown } from "../excess.ts";
import { type Asker, askerKey } from "./asker.ts";
import type { Placement } from "./place-node.ts";

/** A node that no class was compiled for. */
export interface Stranger extends Asker {
  /** Cut off where it is very long. */
  readonly nodeId: string;
  /** `unknown` gets nothing; `default` gets the default class of its type and namespace, which may not be what it should have. */
  readonly kind: "unknown" | "default";
  readonly reason: string;
  readonly sinceMs: number;
}

/** Who asked and has no class of its own. */
export interface StrangerWatch {
  /** To be told of every placement. */
  placed(who: Asker, placement: Placement): void;
  /** Those who asked lately, the latest first. */
  standing(): readonly Stranger[];
}

/** More are neither told nor listed until some of these have gone, so that nobody fills a log with ids that he makes up. */
const maxStrangers = 1_000;

/**
 * @param onStranger told once of each, for as long as it goes on asking
 * @param goneMs how long one that asks no more is remembered
 */
export function createStrangerWatch(
  now: () => number,
  onStranger: (stranger: Stranger) => void,
  goneMs: number,
): StrangerWatch {
  /** By `askerKey`, the one that asked longest ago first. */
  const strangers = new Map<string, Stranger & { readonly seenMs: number }>();

  function forgetTheGone(): void {
    for (const [key, { seenMs }] of strangers) {
      if (seenMs >= now() - goneMs) return;
      strangers.delete(key);
    }
  }

  return {
    placed({ nodeId: id, clusterId }, placement) {
      // Whoever may not be the node says nothing of it.
      if (placement.kind === "forbidden") return;
      if (strangers.size === 0 && placement.kind === "placed" && placement.byDefault === undefined) return;
      const who = { nodeId: shown(id), ...(clusterId === undefined ? {} : { clusterId: shown(clusterId) }) };
      const key = askerKey(who);
      const before = strangers.get(key);
      strangers.delete(key);
      const found = strangeness(placement);
      if (found === undefined) return;
      const nowMs = now();
      const isNews = before?.kind !== found.kind;
      if (isNews) forgetTheGone();
      if (strangers.size >= maxStrangers) return;
      const stranger = { ...who, ...found, sinceMs: isNews ? nowMs : before.sinceMs };
      strangers.set(key, { ...stranger, seenMs: nowMs });
      if (isNews) onStranger(stranger);
    },
    standing() {
      forgetTheGone();
      return [...strangers.values()].map(({ seenMs: _seenMs, ...stranger }) => stranger).reverse();
    },
  };
}

function strangeness(placement: Placement): Pick<Stranger, "kind" | "reason"> | undefined {
  if (placement.kind === "unplaced") return { kind: "unknown", reason: placement.reason };
  if (placement.kind !== "placed" || placement.byDefault === undefined) return undefined;
  return {
    kind: "default",
    reason: `no class was compiled for it: it gets "${placement.classId}", the default of ${placement.byDefault}`,
  };
}
