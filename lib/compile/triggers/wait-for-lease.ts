import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { createSilence, type HeldLease, type LeaseOptions, type SeenLease, seeLease, takeLease } from "./lease.ts";
import type { Pace } from "./pace.ts";

export interface LeaseWaitOptions extends LeaseOptions {
  readonly store: ObjectStore;
  readonly pace: Pace;
  /** A holder that gave no sign of life was replaced. */
  readonly onTakenOver: (dead: { readonly holder: string; readonly silentMs: number }) => void;
}

/** Called before the lease is read; what it returns is called with what was read, and may end the wait by `true`. */
export type LeaseWatch = () => (seen: SeenLease) => Promise<boolean>;

/**
 * Waits for a lease that can be taken, and takes it.
 *
 * @param turnAfter number of the job to come, by that of the last; undefined for a job that serves only this process
 * @returns undefined when the watch has ended the wait
 * @throws PortolanError when another process holds the lease for longer than a job may take
 */
export async function waitForLease(
  options: LeaseWaitOptions,
  turnAfter: (last: number) => number | undefined,
  watch: LeaseWatch,
): Promise<HeldLease | undefined> {
  const { store, pace, clock, holder } = options;
  const startMs = clock.now();
  const silence = createSilence();
  let waitedMs = 0;
  for (let pollMs = pace.pollMs; ; pollMs = Math.min(pollMs * 1.5, pace.pollMs * 5)) {
    const observe = watch();
    const seen = await seeLease(store);
    const { note } = seen;
    if (await observe(seen)) return undefined;
    const silentMs = silence(note, waitedMs);
    waitedMs = 0;
    // This process does one thing at a time: a lease of its own is one that it could not give back.
    const isDead = note.state !== "free" && (note.holder === holder || silentMs > pace.leaseMs);
    if (note.state === "free" || isDead) {
      const isEnded = isDead && note.holder !== holder && note.state === "running";
      const deaths = (note.deaths ?? 0) + (isEnded ? 1 : 0);
      const held = await takeLease(store, seen, { turn: turnAfter(note.turn), deaths }, options);
      if (held === undefined) continue;
      if (isDead && note.holder !== holder) options.onTakenOver({ holder: note.holder, silentMs });
      return held;
    }
    if (clock.now() - startMs > pace.turnMs + pace.leaseMs) {
      const seconds = Math.round((clock.now() - startMs) / 1000);
      throw new PortolanError(`${note.holder} is compiling and was not done within ${seconds} s; ask again`);
    }
    await clock.pause(pollMs);
    waitedMs = pollMs;
  }
}
