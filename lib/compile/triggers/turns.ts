import { type Diagnostic, PortolanError } from "../../config/diagnostic.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type Clock, monotonicClock } from "../clock.ts";
import type { Recompiled } from "../recompile/recompiled.ts";
import { createSilence, type HeldLease, type SeenLease, seeLease, takeLease, writeLease } from "./lease.ts";
import { failedOutcome, joinAttributions, maxAsks, type ToldAsk } from "./lease-note.ts";
import { type Pace, usualPace } from "./pace.ts";

/**
 * One compile.
 *
 * @param mayPublish asked between compiling and publishing; rejects when somebody else compiles by now
 * @param late aborted when the compile has taken too long, and its result is given up
 * @param deaths how many processes in a row have ended in the midst of this compile
 */
export type Compile = (
  publishing: Publishing | undefined,
  mayPublish: () => Promise<void>,
  late?: AbortSignal,
  deaths?: number,
) => Promise<Recompiled>;

export interface TurnsOptions {
  readonly store: ObjectStore;
  readonly compile: Compile;
  /** The diagnostics of a root that another process has published. */
  readonly diagnosticsOf: (root: string) => Promise<readonly Diagnostic[]>;
  readonly pace?: Partial<Pace>;
  readonly clock?: Clock;
  /** Milliseconds since the epoch; the system's clock when absent. */
  readonly now?: () => number;
  readonly onError?: (cause: unknown) => void;
  /** A holder that gave no sign of life was replaced. */
  readonly onTakenOver?: (dead: { readonly holder: string; readonly silentMs: number }) => void;
}

type Watch = (seen: SeenLease, known: readonly Ask[]) => Promise<boolean>;

interface Ask {
  readonly publishing: Publishing | undefined;
  /** What came of it; set once. */
  answer?: { readonly told: Recompiled } | { readonly cause: unknown };
}

/** Whoever carries out turns now. */
interface Worker {
  /** Grows as long as it lives. */
  signs: number;
}

/**
 * Compiles on demand: of all processes on one store one at a time, and however many ask meanwhile, one more after it. Who asks gets
 * what came of a compile that began after he asked, be it another process's. A compile waits a little for more to ask. Who asks for a
 * canary gets a compile of his own, in his turn.
 *
 * A turn is carried out by one of those who wait for an answer, and never by one who has his: at the edge what goes on after the answer is
 * cancelled. The others look for theirs by a clock of their own, since there nobody can be woken by another request, and go on where
 * whoever worked was cancelled.
 *
 * @returns a function that throws PortolanError, with HEAD untouched, when the store or the compile fails, hangs, or is overtaken
 */
export function createTurns(options: TurnsOptions): (publishing?: Publishing) => Promise<Recompiled> {
  const { store, compile, diagnosticsOf, onError = () => {}, onTakenOver = () => {} } = options;
  const { clock = monotonicClock, now = Date.now } = options;
  const pace = { ...usualPace, ...options.pace };
  const holder = crypto.randomUUID();
  const leaseOptions = { holder, leaseMs: pace.leaseMs, clock, now, onError };
  let waiting: readonly Ask[] = [];
  let worker: Worker | undefined;
  let lastAskMs = 0;

  const isAlone = ({ publishing }: Ask) => publishing?.share !== undefined;
  const answer = (asks: readonly Ask[], what: NonNullable<Ask["answer"]>) => {
    const answered = new Set(asks);
    waiting = waiting.filter((ask) => !answered.has(ask));
    for (const ask of asks) ask.answer ??= what;
  };
  const nextBatch = () => waiting.filter((ask, i) => (i === 0 ? true : !isAlone(ask)));

  /** Carries out turns until one has brought the answer to an ask. */
  async function workFor(ask: Ask): Promise<void> {
    const me: Worker = { signs: 0 };
    worker = me;
    const endSigns = clock.every(pace.leaseMs / 8, () => {
      me.signs += 1;
    });
    try {
      while (ask.answer === undefined) await turn();
    } finally {
      endSigns();
      if (worker === me) worker = undefined;
    }
  }

  async function turn(): Promise<void> {
    const [first] = waiting;
    if (first === undefined) return;
    try {
      await (isAlone(first) ? compileAlone(first) : compileTogether());
    } catch (cause) {
      // Before a turn has begun everybody who asks is part of it.
      answer(isAlone(first) ? [first] : nextBatch(), { cause });
    }
  }

  /**
   * Waits until there is an answer, nobody works, or whoever does gives no sign of life. While this process is busy no time passes for either.
   *
   * @returns whose place is to be taken; undefined: nobody's
   */
  async function waitForWorker(ask: Ask): Promise<Worker | undefined> {
    let silentMs = 0;
    let signs = worker?.signs;
    for (let lookMs = shortestLookMs; ask.answer === undefined; lookMs = Math.min(lookMs * 1.5, pace.pollMs)) {
      const seen = worker;
      if (seen === undefined || silentMs > pace.leaseMs) return seen;
      await clock.pause(lookMs);
      silentMs = worker === seen && seen.signs === signs ? silentMs + lookMs : 0;
      signs = worker?.signs;
    }
    return undefined;
  }

  /**
   * Waits for a lease that can be taken.
   *
   * @param turn the number of the turn to come, by that of the last
   * @param watch is shown each state, and who asked before it was read; may end the wait
   */
  async function waitFor(turn: (last: number) => number | undefined, watch: Watch): Promise<HeldLease | undefined> {
    const startMs = clock.now();
    const silence = createSilence();
    let waitedMs = 0;
    for (let pollMs = pace.pollMs; ; pollMs = Math.min(pollMs * 1.5, pace.pollMs * 5)) {
      const known = nextBatch();
      const seen = await seeLease(store);
      const { note } = seen;
      if (await watch(seen, known)) return undefined;
      const silentMs = silence(note, waitedMs);
      waitedMs = 0;
      // This process does one thing at a time: a lease of its own is one that it could not give back.
      const isDead = note.state !== "free" && (note.holder === holder || silentMs > pace.leaseMs);
      if (note.state === "free" || isDead) {
        const isEnded = isDead && note.holder !== holder && note.state === "running";
        const deaths = (note.deaths ?? 0) + (isEnded ? 1 : 0);
        const held = await takeLease(store, seen, { turn: turn(note.turn), deaths }, leaseOptions);
        if (held !== undefined) {
          if (isDead && note.holder !== holder) onTakenOver({ holder: note.holder, silentMs });
          return held;
        }
      } else if (clock.now() - startMs > pace.turnMs + pace.leaseMs) {
        const seconds = Math.round((clock.now() - startMs) / 1000);
        throw new PortolanError(`${note.holder} is compiling and was not done within ${seconds} s; ask again`);
      } else {
        await clock.pause(pollMs);
        waitedMs = pollMs;
      }
    }
  }

  /**
   * Runs within the time that a turn has. What hangs goes on for nothing: it may not publish any more. What has begun to move HEAD gets as
   * long as a lease holds to say what came of it, and is never said to be given up.
   */
  async function run(held: HeldLease, publishing: Publishing | undefined): Promise<Recompiled> {
    let mayHavePublished = false;
    const ended = new AbortController();
    const late = Promise.withResolvers<never>();
    let endTimer = clock.after(pace.turnMs, () => {
      if (mayHavePublished) {
        endTimer = clock.after(pace.leaseMs, () => {
          ended.abort();
          late.reject(new PortolanError(unknownOutcome(pace)));
        });
        return;
      }
      ended.abort();
      late.reject(new PortolanError(`the compile was not done within ${pace.turnMs / 1000} s and is given up`));
    });
    const refuseLate = () => {
      if (ended.signal.aborted) throw new PortolanError("this compile was given up, and publishes nothing");
    };
    const mayPublish = async () => {
      refuseLate();
      await held.verify();
      refuseLate();
      mayHavePublished = true;
    };
    try {
      const told = await Promise.race([compile(publishing, mayPublish, ended.signal, held.deaths), late.promise]);
      const { diagnostics: _diagnostics, ...rest } = told;
      await held.end(publishing?.share === undefined ? { kind: "compiled", told: rest } : undefined);
      return told;
    } catch (cause) {
      await held.end(publishing?.share === undefined ? failedOutcome(cause) : undefined);
      throw cause;
    } finally {
      endTimer();
    }
  }

  async function compileAlone(ask: Ask): Promise<void> {
    const waits: Watch = async () => false;
    const held = await waitFor(() => undefined, waits);
    if (held === undefined) return;
    const told = await run(held, ask.publishing);
    answer([ask], { told });
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
      answer(batch, { told });
    } catch (cause) {
      answer(batch, { cause });
    }
  }

  /** Waits until nobody has asked for a while, or somebody has waited long enough. */
  async function gather(held: HeldLease): Promise<readonly ToldAsk[]> {
    const startMs = clock.now();
    for (;;) {
      const quietMs = pace.quietMs - (clock.now() - lastAskMs);
      const patienceMs = pace.longestWaitMs - (clock.now() - startMs);
      if (quietMs > 0 && patienceMs > 0) {
        await clock.pause(Math.min(quietMs, patienceMs));
        continue;
      }
      try {
        const begun = await held.begin();
        if (begun !== "more") return begun;
      } catch (cause) {
        await held.end(undefined);
        throw cause;
      }
      lastAskMs = clock.now();
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
            answer(counted, { cause: new PortolanError(outcome.reason, outcome.diagnostics) });
          } else {
            const diagnostics = await diagnosticsOf(outcome.told.version);
            answer(counted, { told: { ...outcome.told, diagnostics } });
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

  return async (publishing) => {
    const ask: Ask = { publishing };
    waiting = [...waiting, ask];
    lastAskMs = clock.now();
    while (ask.answer === undefined) {
      const gone = await waitForWorker(ask);
      // Of several who have waited one goes on.
      if (ask.answer === undefined && worker === gone) await workFor(ask);
    }
    if ("cause" in ask.answer) throw ask.answer.cause;
    return ask.answer.told;
  };
}

const unknownOutcome = ({ turnMs }: Pace): string =>
  `the compile had begun to move HEAD when its ${turnMs / 1000} s were over, and it is not known whether HEAD moved; ` +
  "`portolan status` shows what is served. Ask again: a compile of the same sources changes nothing";

/** How soon whoever waits looks for an answer first. */
const shortestLookMs = 5;
