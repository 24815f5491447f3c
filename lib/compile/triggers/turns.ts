import { type Diagnostic, PortolanError } from "../../config/diagnostic.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Recompiled } from "../recompile.ts";
import { type HeldLease, type SeenLease, seeLease, takeLease, writeLease } from "./lease.ts";
import { joinAttributions, maxAsks, maxHandedOn, type Outcome, type ToldAsk } from "./lease-note.ts";
import { type Pace, pause, usualPace } from "./pace.ts";

/**
 * One compile.
 *
 * @param mayPublish asked between compiling and publishing; rejects when somebody else compiles by now
 */
export type Compile = (publishing: Publishing | undefined, mayPublish: () => Promise<void>) => Promise<Recompiled>;

export interface TurnsOptions {
  readonly store: ObjectStore;
  readonly compile: Compile;
  /** The diagnostics of a root that another process has published. */
  readonly diagnosticsOf: (root: string) => Promise<readonly Diagnostic[]>;
  readonly pace?: Partial<Pace>;
  readonly now?: () => number;
  readonly onError?: (cause: unknown) => void;
  /** A holder that gave no sign of life was replaced. */
  readonly onTakenOver?: (dead: { readonly holder: string; readonly silentMs: number }) => void;
}

type Watch = (seen: SeenLease, known: readonly Ask[]) => Promise<boolean>;

interface Ask {
  readonly publishing: Publishing | undefined;
  readonly resolve: (told: Recompiled) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Compiles on demand: of all processes on one store one at a time, and however many ask meanwhile, one more after it. Who asks gets
 * what came of a compile that began after he asked, be it another process's. A compile waits a little for more to ask. Who asks for a
 * canary gets a compile of his own, in his turn.
 *
 * @returns a function that throws PortolanError, with HEAD untouched, when the store or the compile fails, hangs, or is overtaken
 */
export function createTurns(options: TurnsOptions): (publishing?: Publishing) => Promise<Recompiled> {
  const { store, compile, diagnosticsOf, now = Date.now, onError = () => {}, onTakenOver = () => {} } = options;
  const pace = { ...usualPace, ...options.pace };
  const holder = crypto.randomUUID();
  const leaseOptions = { holder, leaseMs: pace.leaseMs, now, onError };
  let waiting: readonly Ask[] = [];
  let isWorking = false;
  let lastAskMs = 0;

  const isAlone = ({ publishing }: Ask) => publishing?.share !== undefined;
  const answer = (asks: readonly Ask[], how: (ask: Ask) => void) => {
    const answered = new Set(asks);
    waiting = waiting.filter((ask) => !answered.has(ask));
    for (const ask of asks) how(ask);
  };
  const nextBatch = () => waiting.filter((ask, i) => (i === 0 ? true : !isAlone(ask)));

  async function work(): Promise<void> {
    isWorking = true;
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const mine = isAlone(first) ? [first] : [];
      try {
        await (isAlone(first) ? compileAlone(first) : compileTogether());
      } catch (cause) {
        // Before a turn has begun everybody who asks is part of it.
        answer(mine.length > 0 ? mine : nextBatch(), ({ reject }) => reject(cause));
      }
    }
    isWorking = false;
  }

  /**
   * Waits for a lease that can be taken.
   *
   * @param turn the number of the turn to come, by that of the last
   * @param watch is shown each state, and who asked before it was read; may end the wait
   */
  async function waitFor(turn: (last: number) => number | undefined, watch: Watch): Promise<HeldLease | undefined> {
    const startMs = now();
    let unchanged = { serial: -1, sinceMs: startMs };
    for (let pollMs = pace.pollMs; ; pollMs = Math.min(pollMs * 1.5, pace.pollMs * 5)) {
      const known = nextBatch();
      const seen = await seeLease(store, now);
      const { note } = seen;
      if (await watch(seen, known)) return undefined;
      if (unchanged.serial !== note.serial) unchanged = { serial: note.serial, sinceMs: now() };
      const silentMs = Math.max(seen.ageMs, now() - unchanged.sinceMs);
      // This process does one thing at a time: a lease of its own is one that it could not give back.
      const isDead = note.state !== "free" && (note.holder === holder || silentMs > pace.leaseMs);
      if (note.state === "free" || isDead) {
        const held = await takeLease(store, seen, turn(note.turn), leaseOptions);
        if (held !== undefined) {
          if (isDead && note.holder !== holder) onTakenOver({ holder: note.holder, silentMs });
          return held;
        }
      } else if (now() - startMs > pace.turnMs + pace.leaseMs) {
        const seconds = Math.round((now() - startMs) / 1000);
        throw new PortolanError(`${note.holder} is compiling and was not done within ${seconds} s; ask again`);
      } else {
        await pause(pollMs);
      }
    }
  }

  /** Runs within the time that a turn has. What hangs goes on for nothing: it may not publish any more. */
  async function run(held: HeldLease, publishing: Publishing | undefined): Promise<Recompiled> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLate = false;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        isLate = true;
        reject(new PortolanError(`the compile was not done within ${pace.turnMs / 1000} s and is given up`));
      }, pace.turnMs);
    });
    const mayPublish = async () => {
      if (isLate) throw new PortolanError("this compile was given up, and publishes nothing");
      await held.verify();
    };
    try {
      const told = await Promise.race([compile(publishing, mayPublish), late]);
      const { diagnostics: _diagnostics, ...rest } = told;
      await held.end(publishing?.share === undefined ? { kind: "compiled", told: rest } : undefined);
      return told;
    } catch (cause) {
      await held.end(publishing?.share === undefined ? failure(cause) : undefined);
      throw cause;
    } finally {
      clearTimeout(timer);
    }
  }

  async function compileAlone(ask: Ask): Promise<void> {
    const waits: Watch = async () => false;
    const held = await waitFor(() => undefined, waits);
    if (held === undefined) return;
    const told = await run(held, ask.publishing);
    answer([ask], ({ resolve }) => resolve(told));
  }

  async function compileTogether(): Promise<void> {
    const joined = joiner();
    const held = await waitFor((seen) => seen + 1, joined.watch);
    if (held === undefined) return;
    const others = await gather(held);
    const batch = nextBatch();
    const own = batch.map(({ publishing }) => publishing ?? {});
    const asked = [...own, ...others.filter(({ from }) => from !== holder)];
    const reason = own.find((publishing) => publishing.reason !== undefined)?.reason;
    const attribution = joinAttributions(asked);
    const publishing = { ...attribution, ...(reason === undefined ? {} : { reason }) };
    try {
      const told = await run(held, Object.keys(publishing).length === 0 ? undefined : publishing);
      answer(batch, ({ resolve }) => resolve(told));
    } catch (cause) {
      answer(batch, ({ reject }) => reject(cause));
    }
  }

  /** Waits until nobody has asked for a while, or somebody has waited long enough. */
  async function gather(held: HeldLease): Promise<readonly ToldAsk[]> {
    const startMs = now();
    for (;;) {
      const quietMs = pace.quietMs - (now() - lastAskMs);
      const patienceMs = pace.longestWaitMs - (now() - startMs);
      if (quietMs > 0 && patienceMs > 0) {
        await pause(Math.min(quietMs, patienceMs));
        continue;
      }
      try {
        const begun = await held.begin();
        if (begun !== "more") return begun;
      } catch (cause) {
        await held.end(undefined);
        throw cause;
      }
      lastAskMs = now();
    }
  }

  /** Follows the turn of another process that those who ask now are part of. */
  function joiner() {
    let target: number | undefined;
    /** They asked before the turn had begun. */
    let counted: readonly Ask[] = [];
    let hasTold = false;
    return {
      async watch(seen: SeenLease, known: readonly Ask[]): Promise<boolean> {
        const { note } = seen;
        if (note.state === "free" && target === undefined) return false;
        target ??= note.state === "gathering" ? note.turn : note.turn + 1;
        const isToCome = note.turn < target || (note.turn === target && note.state === "gathering");
        if (isToCome) counted = known;
        if (note.ended >= target && note.outcome !== undefined) {
          const { outcome } = note;
          if (outcome.kind === "failed") {
            const failed = new PortolanError(outcome.reason, outcome.diagnostics);
            answer(counted, ({ reject }) => reject(failed));
          } else {
            const diagnostics = await diagnosticsOf(outcome.told.version);
            answer(counted, ({ resolve }) => resolve({ ...outcome.told, diagnostics }));
          }
          return true;
        }
        const attribution = joinAttributions(nextBatch().map(({ publishing }) => publishing ?? {}));
        const mustTell = note.state === "gathering" || Object.keys(attribution).length > 0;
        if (!hasTold && isToCome && mustTell && note.state !== "free" && note.asks.length < maxAsks) {
          const asks = [...note.asks, { from: holder, ...attribution }];
          hasTold = (await writeLease(store, seen, { asks })) !== undefined;
        }
        return false;
      },
    };
  }

  return (publishing) =>
    new Promise((resolve, reject) => {
      waiting = [...waiting, { publishing, resolve, reject }];
      lastAskMs = now();
      if (!isWorking) void work();
    });
}

function failure(cause: unknown): Outcome {
  return cause instanceof PortolanError
    ? { kind: "failed", reason: cause.message, diagnostics: cause.diagnostics.slice(0, maxHandedOn) }
    : { kind: "failed", reason: "an error of Portolan's own; the log of who compiled has more", diagnostics: [] };
}
