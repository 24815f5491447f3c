import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { type Diagnostic, fileOrigin, PortolanError } from "../../../lib/base/diagnostic.ts";
import type { Recompiled } from "../../../lib/compile/recompile/recompiled.ts";
import type { Compile } from "../../../lib/compile/triggers/compile-job.ts";
import { type CompileQueueOptions, createCompileQueue } from "../../../lib/compile/triggers/compile-queue.ts";
import { seeLease } from "../../../lib/compile/triggers/lease.ts";
import { leaseKey, readNote } from "../../../lib/compile/triggers/lease-note.ts";
import type { Publishing } from "../../../lib/snapshot/publish.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { manualClock } from "../manual-clock.ts";

const pace = { quietMs: 0, longestWaitMs: 1000, leaseMs: 60_000, turnMs: 600_000, pollMs: 200 };
const warning: Diagnostic = {
  code: "no-effect",
  severity: "warning",
  origin: fileOrigin("a.yaml"),
  path: [],
  message: "m",
  hint: "h",
};

/** Compiles that end when they are told to, of all processes on one store. */
function workshop(store: ObjectStore = memoryStore()) {
  const clock = manualClock();
  const runs: { readonly publishing: Publishing | undefined; readonly end: (cause?: unknown) => void }[] = [];
  let atATime = 0;
  let most = 0;
  const compile: Compile = async (publishing, mayPublish) => {
    const generation = runs.length + 1;
    atATime += 1;
    most = Math.max(most, atATime);
    try {
      await new Promise<void>((resolve, reject) =>
        runs.push({ publishing, end: (cause) => (cause === undefined ? resolve() : reject(cause)) }),
      );
      await mayPublish();
    } finally {
      atATime -= 1;
    }
    return { kind: "published", version: `v${generation}`, generation, diagnostics: [warning] };
  };
  const process = (options: Partial<CompileQueueOptions> = {}) =>
    createCompileQueue({
      store,
      compile,
      clock,
      diagnosticsOf: async () => [warning],
      ...options,
      pace: { ...pace, ...options.pace },
    });
  const started = async (count: number) => {
    await clock.until(() => runs.length >= count);
    expect(runs.length).toBe(count);
  };
  const end = (run: number, cause?: unknown) => runs[run - 1]?.end(cause);
  const { settled } = clock;
  const all = (asked: readonly Promise<Recompiled>[]) => settled(generations(asked));
  return { clock, settled, store, process, runs, started, end, all, most: () => most };
}

const generations = async (asked: readonly Promise<Recompiled>[]) =>
  (await Promise.all(asked)).map(({ generation }) => generation);

describe("a compile that takes too long", () => {
  it("is told so, and is given up", async () => {
    const signals: AbortSignal[] = [];
    const compile: Compile = (_publishing, _mayPublish, late) => {
      if (late !== undefined) signals.push(late);
      return new Promise(() => {});
    };
    const options = { store: memoryStore(), compile, diagnosticsOf: async () => [] };
    const ask = createCompileQueue({ ...options, pace: { ...pace, turnMs: 1 } });
    await expect(ask()).rejects.toThrow("was not done within 0.001 s and is given up");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe("triggers of one process", () => {
  it("make one compile and one more of a burst", async () => {
    const { process, started, end, runs, all } = workshop();
    const ask = process();
    const first = ask();
    await started(1);
    const burst = Array.from({ length: 100 }, () => ask());
    end(1);
    await started(2);
    end(2);
    expect(await all([first, ...burst])).toEqual([1, ...burst.map(() => 2)]);
    expect(runs.length).toBe(2);
  });

  it("are carried out by whoever waits for an answer, and never by whoever has one", async () => {
    const requests = new AsyncLocalStorage<string>();
    const by: (string | undefined)[] = [];
    const { clock, settled, all, store, runs, started, end } = workshop();
    const compile: Compile = async () => {
      by.push(requests.getStore());
      await new Promise<void>((resolve) => runs.push({ publishing: undefined, end: () => resolve() }));
      return { kind: "published", version: "v", generation: by.length, diagnostics: [] };
    };
    const ask = createCompileQueue({ store, compile, clock, diagnosticsOf: async () => [], pace });
    const first = requests.run("first", () => ask());
    await started(1);
    const second = requests.run("second", () => ask());
    const third = requests.run("third", () => ask());
    end(1);
    await settled(first);
    await started(2);
    end(2);
    expect(await all([second, third])).toEqual([2, 2]);
    expect(by).toEqual(["first", expect.stringMatching(/second|third/)]);
  });

  it("wait until nobody has asked for a while, but no longer than the longest wait", async () => {
    const { clock, process, runs, end, all } = workshop();
    const ask = process({ pace: { quietMs: 60, longestWaitMs: 300 } });
    const asked: Promise<Recompiled>[] = [];
    const startMs = clock.now();
    while (runs.length === 0) {
      asked.push(ask());
      await clock.passes(10);
    }
    expect(clock.now() - startMs).toBe(300);
    end(1);
    expect(new Set(await all(asked))).toEqual(new Set([1]));
  });

  it("say of one compile who asked for it, each once", async () => {
    const { all, process, runs, started, end } = workshop();
    const ask = process();
    void ask();
    await started(1);
    const asked = [ask({ by: "ann", why: "a" }), ask({ by: "ben", why: "b" }), ask({ by: "ann", why: "a" }), ask()];
    end(1);
    await started(2);
    expect(runs[1]?.publishing).toEqual({ by: "ann, ben", why: "a; b" });
    end(2);
    expect(await all(asked)).toEqual([2, 2, 2, 2]);
  });

  it("give a canary a compile of its own, which nobody else gets the answer of", async () => {
    const { all, process, runs, started, end } = workshop();
    const ask = process();
    const first = ask();
    await started(1);
    const canary = ask({ share: { percent: 5, labels: {} } });
    const other = ask();
    end(1);
    await started(2);
    expect(runs[1]?.publishing?.share?.percent).toBe(5);
    end(2);
    await started(3);
    end(3);
    expect(await all([first, canary, other])).toEqual([1, 2, 3]);
  });
});

describe("triggers of many processes", () => {
  it("make one compile and one more, and all are told what came of theirs", async () => {
    const { clock, all, process, runs, started, end, most } = workshop();
    const first = process()();
    await started(1);
    const others = Array.from({ length: 8 }, () => process()).flatMap((ask) => [ask(), ask(), ask()]);
    await clock.passes(100);
    expect(runs.length).toBe(1);
    end(1);
    await started(2);
    await clock.passes(100);
    end(2);
    expect(await all([first, ...others])).toEqual([1, ...others.map(() => 2)]);
    expect([runs.length, most()]).toEqual([2, 1]);
    expect((await others[20])?.diagnostics).toEqual([warning]);
  });

  it("join a compile that has not begun, and make it wait for them", async () => {
    const { clock, all, process, runs, started, end } = workshop();
    const slow = { pace: { quietMs: 150, longestWaitMs: 2000 } };
    const [a, b] = [process(slow), process(slow)];
    const asked = [a({ by: "ann" })];
    await clock.passes(75);
    asked.push(b({ by: "ben" }));
    await started(1);
    expect(runs[0]?.publishing).toEqual({ by: "ann, ben" });
    end(1);
    expect(await all(asked)).toEqual([1, 1]);
  });

  it("hand on by whom the next compile was asked for", async () => {
    const { clock, all, process, runs, started, end } = workshop();
    const [a, b, c] = [process(), process(), process()];
    const first = a();
    await started(1);
    const asked = [b({ by: "ben" }), c({ by: "cleo" })];
    await clock.passes(1_000);
    end(1);
    await started(2);
    expect(runs[1]?.publishing?.by?.split(", ").sort()).toEqual(["ben", "cleo"]);
    end(2);
    expect(await all([first, ...asked])).toEqual([1, 2, 2]);
  });

  it("all hear why a compile failed, and the next trigger compiles again", async () => {
    const { settled, process, started, end } = workshop();
    const [a, b] = [process(), process()];
    const first = a();
    await started(1);
    const second = b();
    const third = a();
    end(1, new PortolanError("the store is full", [warning]));
    await expect(settled(first)).rejects.toThrow("the store is full");
    await started(2);
    end(2, new TypeError("secret detail"));
    const told = await settled(Promise.allSettled([second, third]));
    const reasons = told.map((one) => (one.status === "rejected" ? String(one.reason) : "done"));
    expect(reasons.filter((reason) => reason.includes("secret detail")).length).toBe(1);
    expect(reasons.filter((reason) => reason.includes("an error of Portolan's own")).length).toBe(1);
    const again = b();
    await started(3);
    end(3);
    expect((await settled(again)).generation).toBe(3);
  });
});

describe("a holder of the lease", () => {
  it("is replaced when it has died, and what it made late is not published", async () => {
    const { settled, store, process, started, end } = workshop();
    // A process that is stopped: neither its timers nor its compile go on.
    const dead = process({ pace: { leaseMs: 1e9 } });
    const first = dead();
    first.catch(() => {});
    await started(1);
    const takenOver: string[] = [];
    const alive = process({ onTakenOver: ({ holder }) => takenOver.push(holder) });
    const { holder } = (await seeLease(store)).note;
    const second = alive();
    await started(2);
    expect(takenOver).toEqual([holder]);
    end(1);
    await expect(settled(first)).rejects.toThrow("has taken over the lease of this compile");
    end(2);
    expect((await settled(second)).generation).toBe(2);
    expect((await seeLease(store)).note.state).toBe("free");
  });

  it("leaves behind that it died in the midst of a turn, for the next to count until one comes to its end", async () => {
    const clock = manualClock();
    const options = { store: memoryStore(), diagnosticsOf: async () => [], pace };
    const seen: unknown[] = [];
    const hang: Compile = (_publishing, _mayPublish, _late, deaths) => {
      seen.push(deaths);
      return new Promise(() => {});
    };
    for (const count of [1, 2]) {
      // Like a process that was killed it gives no sign of life.
      const stopped = { ...clock, every: () => () => {} };
      createCompileQueue({ ...options, compile: hang, clock: stopped })().catch(() => {});
      await clock.until(() => seen.length === count);
    }
    const refuse: Compile = async (_publishing, _mayPublish, _late, deaths) => {
      seen.push(deaths);
      throw new Error("refused");
    };
    for (const ask of [
      createCompileQueue({ ...options, compile: refuse, clock }),
      createCompileQueue({ ...options, compile: refuse, clock }),
    ])
      await expect(clock.settled(ask())).rejects.toThrow("refused");
    expect(seen).toEqual([0, 1, 2, 0]);
  });

  it("is not replaced while it gives signs of life, however long it compiles", async () => {
    const { clock, all, process, runs, started, end } = workshop();
    const first = process()();
    await started(1);
    const second = process()();
    await clock.passes(3 * pace.leaseMs);
    expect(runs.length).toBe(1);
    end(1);
    await started(2);
    end(2);
    expect(await all([first, second])).toEqual([1, 2]);
  });

  it("that hangs is given up after the time of a turn, with the reason in the answer, and the next trigger compiles", async () => {
    const { settled, process, started, end } = workshop();
    const ask = process({ pace: { turnMs: 2_000 } });
    const hanging = ask();
    await expect(settled(hanging)).rejects.toThrow("was not done within 2 s and is given up");
    const next = process()();
    await started(2);
    end(2);
    expect((await settled(next)).generation).toBe(2);
    end(1);
  });

  it("that could not give the lease back compiles again at once", async () => {
    const store = memoryStore();
    let fails = false;
    const flaky: ObjectStore = {
      ...store,
      put: async (key, bytes, condition) => {
        if (fails && key === leaseKey) throw new PortolanError("the store fails");
        return store.put(key, bytes, condition);
      },
    };
    const errors: unknown[] = [];
    const { settled, process, started, end } = workshop(flaky);
    const ask = process({ onError: (cause) => errors.push(cause), pace: { leaseMs: 60_000 } });
    const first = ask();
    await started(1);
    fails = true;
    end(1);
    expect((await settled(first)).generation).toBe(1);
    expect(errors.map(String)).toEqual(["PortolanError: the store fails"]);
    fails = false;
    const second = ask();
    await started(2);
    end(2);
    expect((await settled(second)).generation).toBe(2);
  });

  it("that the store fails for is told so, and nothing is under way after it", async () => {
    const broken: ObjectStore = {
      ...memoryStore(),
      get: async () => {
        throw new PortolanError("the store cannot be reached");
      },
    };
    const { settled, process } = workshop(broken);
    const ask = process();
    await expect(settled(ask())).rejects.toThrow("the store cannot be reached");
    await expect(settled(ask({ share: { percent: 1, labels: {} } }))).rejects.toThrow("the store cannot be reached");
  });
});

describe("a compile that is late", () => {
  /** A compile that has begun to move HEAD, and says nothing until it is told to. */
  function publisher() {
    const { clock, settled, store } = workshop();
    const moved = Promise.withResolvers<void>();
    let mayPublish = false;
    let compiles = 0;
    const compile: Compile = async (_publishing, ask) => {
      compiles += 1;
      await ask();
      mayPublish = true;
      await moved.promise;
      return { kind: "published", version: "v", generation: 7, diagnostics: [] };
    };
    const ask = createCompileQueue({
      store,
      compile,
      clock,
      diagnosticsOf: async () => [],
      pace: { ...pace, turnMs: 2_000 },
    });
    return { clock, settled, store, ask, moved, begun: () => clock.until(() => mayPublish), compiles: () => compiles };
  }

  it("is not said to be given up once it moves HEAD", async () => {
    const { clock, settled, store, ask, moved, begun } = publisher();
    const asked = ask();
    await begun();
    await clock.passes(10_000);
    moved.resolve();
    expect(await settled(asked)).toMatchObject({ kind: "published", generation: 7 });
    expect((await seeLease(store)).note.outcome).toMatchObject({ kind: "compiled", told: { generation: 7 } });
  });

  it("is said to be of unknown outcome where the store never says whether HEAD moved", async () => {
    const { settled, ask, begun } = publisher();
    const asked = ask();
    asked.catch(() => {});
    await begun();
    await expect(settled(asked)).rejects.toThrow("it is not known whether HEAD moved");
  });
});

describe("the time of day", () => {
  it.each([60_000, -60_000, 86_400_000])(
    "takes no lease from a holder that lives when it jumps by %s ms",
    async (jumpMs) => {
      let jumped = 0;
      const { clock, all, process, runs, started, end } = workshop(memoryStore(() => 1e12 + jumped));
      const takenOver: string[] = [];
      const options = {
        now: () => 1e12 + jumped,
        onTakenOver: ({ holder }: { readonly holder: string }) => takenOver.push(holder),
      };
      const first = process(options)();
      await started(1);
      const second = process(options)();
      await clock.passes(1_000);
      jumped = jumpMs;
      await clock.passes(5 * pace.leaseMs);
      expect([runs.length, takenOver]).toEqual([1, []]);
      end(1);
      await started(2);
      end(2);
      expect(await all([first, second])).toEqual([1, 2]);
    },
  );

  it("does not keep a lease with a holder whose clock was ahead when it died", async () => {
    const { settled, process, started, end } = workshop();
    const dead = process({ now: () => 1e15, pace: { leaseMs: 1e9 } });
    dead().catch(() => {});
    await started(1);
    const second = process({ now: () => 1e12 })();
    await started(2);
    end(2);
    expect((await settled(second)).generation).toBe(2);
  });

  it("is no sign of life when it is somebody else who writes the lease, to ask", async () => {
    const { clock, settled, process, started, end } = workshop();
    const dead = process({ pace: { leaseMs: 1e9 } });
    dead().catch(() => {});
    await started(1);
    const silent: number[] = [];
    const asked = Array.from({ length: 10 }, () => process({ onTakenOver: ({ silentMs }) => silent.push(silentMs) }));
    const answers: Promise<Recompiled>[] = [];
    for (const [i, ask] of asked.entries()) {
      answers.push(ask({ by: `n${i}` }));
      await clock.passes(pace.leaseMs / 8);
    }
    await started(2);
    expect(silent).toHaveLength(1);
    end(2);
    expect((await settled(answers[0] ?? Promise.reject(new Error("nobody asked")))).generation).toBe(2);
  });
});

describe("what is handed on through the lease", () => {
  it("has a bound, however long the texts are", async () => {
    const { settled, store, process, started, end } = workshop();
    const asked = process()({ by: "b".repeat(10_000), why: "w".repeat(1_000_000) });
    asked.catch(() => {});
    await started(1);
    const long: Diagnostic = { ...warning, message: "m".repeat(40_000) };
    end(1, new PortolanError("r".repeat(1_000_000), [long, long, long]));
    await expect(settled(asked)).rejects.toThrow("rrr");
    const found = await store.get(leaseKey);
    expect(found.kind === "found" ? found.bytes.length : 0).toBeLessThan(100_000);
  });
});

describe("a lease that cannot be read", () => {
  it.each(["", "rubbish", "[]", '{"serial":1}'])("counts as none: %j", async (text) => {
    const { settled, store, process, started, end } = workshop();
    await store.put(leaseKey, new TextEncoder().encode(text));
    const asked = process()();
    await started(1);
    end(1);
    expect((await settled(asked)).generation).toBe(1);
    const found = await store.get(leaseKey);
    expect(readNote(found.kind === "found" ? new TextDecoder().decode(found.bytes) : "").ended).toBe(1);
  });
});
