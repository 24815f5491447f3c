import type { EnvoyProcess } from "../envoy/envoy-process.ts";
import { isWarm } from "../envoy/warmth.ts";
import type { EnvoyRollout } from "../xds/envoy-rollout.ts";
import type { LocalState } from "../xds/local-host.ts";

/** Leads Envoy to what is wanted, stage by stage, and holds a change back over which Envoys have ended. */
export interface EnvoyStages {
  /** Offers Envoy what it is to have now. */
  offer(): void;
  /** Something else is wanted: what Envoys have ended over does not count any more. */
  wantsOther(): void;
  /** Envoy has asked for listeners: it takes traffic from now on. */
  hasListeners(): void;
  /** Envoy has taken everything that it was offered. */
  settled(): void;
  /** Envoy has ended: a change that it was taking is held back from the next one for a while, and after a second end left out. */
  envoyEnded(): void;
  /** Offers the next stage where there is one. @returns when to call again, by `performance.now()` */
  advance(envoy: EnvoyProcess | undefined): Promise<number>;
  /** How many changes Envoy has taken as a whole, or as far as it does not refuse them. */
  changes(): number;
}

/** Until a change that an Envoy has ended over is given to the next one. */
const retryMs = 5_000;

/** How long Envoy's clusters and listeners may take to be ready before routes are led to them all the same. */
const warmMs = 5_000;
const lookMs = 20;

/** So many Envoys may end over one change, which is then left alone. */
const maxVictims = 2;

export function createEnvoyStages(rollout: EnvoyRollout, state: LocalState, say: (line: string) => void): EnvoyStages {
  /** Envoys that have ended over what is wanted now, and when it is tried again. */
  let victims = 0;
  let heldBackUntilMs = 0;
  let hasListeners = false;
  let settledMs = 0;
  let isDone = false;
  let changes = 0;

  const offer = () => {
    const offered = rollout.offered();
    if (offered !== undefined) state.offer(offered);
  };

  return {
    offer,
    wantsOther() {
      victims = 0;
      heldBackUntilMs = 0;
      isDone = false;
    },
    hasListeners() {
      hasListeners = true;
    },
    settled() {
      if (!rollout.isSettled()) settledMs = performance.now();
      rollout.settle();
    },
    envoyEnded() {
      hasListeners = false;
      if (!rollout.end()) return;
      victims += 1;
      heldBackUntilMs = performance.now() + retryMs;
      say(
        victims >= maxVictims
          ? "Envoy ends over what is new: it is left out until something else comes"
          : `Envoy ended while it took something new: it is started with what it had, and given it again in ${retryMs / 1_000} s`,
      );
      offer();
    },
    async advance(envoy) {
      const isBarred = victims >= maxVictims || performance.now() < heldBackUntilMs;
      const facts = { isBarred, isServing: envoy !== undefined && (envoy.isAdopted || hasListeners) };
      let hasMoved = rollout.advance({ ...facts, isWarm: false });
      const isWaiting = !hasMoved && !isBarred && rollout.isSettled() && !rollout.isDone();
      if (isWaiting) {
        const isReady = performance.now() > settledMs + warmMs || (await isWarm(await envoy?.admin()));
        // What has happened meanwhile counts.
        hasMoved = rollout.isSettled() && rollout.advance({ ...facts, isWarm: isReady });
        if (!hasMoved && !isReady) return performance.now() + lookMs;
      }
      if (hasMoved) offer();
      if (rollout.isDone() && !isDone) {
        isDone = true;
        changes += 1;
      }
      return victims < maxVictims && isBarred ? heldBackUntilMs : Number.POSITIVE_INFINITY;
    },
    changes: () => changes,
  };
}
