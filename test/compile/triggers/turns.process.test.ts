import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Recompiled } from "../../../lib/compile/recompile/recompiled.ts";
import { seeLease } from "../../../lib/compile/triggers/lease.ts";
import { leaseKey, readNote } from "../../../lib/compile/triggers/lease-note.ts";
import { type Compile, createTurns, type TurnsOptions } from "../../../lib/compile/triggers/turns.ts";
import { type Diagnostic, fileOrigin, PortolanError } from "../../../lib/config/diagnostic.ts";
import type { Publishing } from "../../../lib/snapshot/publish.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";

/** Times short enough to wait for, long enough for a busy machine. */
const pace = { quietMs: 0, longestWaitMs: 1000, leaseMs: 400, turnMs: 2000, pollMs: 10 };
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
  const process = (options: Partial<TurnsOptions> = {}) =>
    createTurns({
      store,
      compile,
      diagnosticsOf: async () => [warning],
      ...options,
      pace: { ...pace, ...options.pace },
    });
  const started = async (count: number) => {
    for (let i = 0; i < 400 && runs.length < count; i += 1) await sleep(5);
    expect(runs.length).toBe(count);
  };
  const end = (run: number, cause?: unknown) => runs[run - 1]?.end(cause);
  return { store, process, runs, started, end, most: () => most };
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
    const ask = createTurns({ ...options, pace: { ...pace, turnMs: 1 } });
    await expect(ask()).rejects.toThrow("was not done within 0.001 s and is given up");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe("triggers of one process", () => {
  it("make one compile and one more of a burst", async () => {
    const { process, started, end, runs } = workshop();
    const ask = process();
    const first = ask();
    await started(1);
    const burst = Array.from({ length: 100 }, () => ask());
    end(1);
    await started(2);
    end(2);
    expect(await generations([first, ...burst])).toEqual([1, ...burst.map(() => 2)]);
    expect(runs.length).toBe(2);
  });

  it("are carried out by whoever waits for an answer, and never by whoever has one", async () => {
    const requests = new AsyncLocalStorage<string>();
    const by: (string | undefined)[] = [];
    const { store, runs, started, end } = workshop();
    const compile: Compile = async () => {
      by.push(requests.getStore());
      await new Promise<void>((resolve) => runs.push({ publishing: undefined, end: () => resolve() }));
      return { kind: "published", version: "v", generation: by.length, diagnostics: [] };
    };
    const ask = createTurns({ store, compile, diagnosticsOf: async () => [], pace });
    const first = requests.run("first", () => ask());
    await started(1);
    const second = requests.run("second", () => ask());
    const third = requests.run("third", () => ask());
    end(1);
    await first;
    await started(2);
    end(2);
    expect(await generations([second, third])).toEqual([2, 2]);
    expect(by).toEqual(["first", expect.stringMatching(/second|third/)]);
  });

  it("wait until nobody has asked for a while, but no longer than the longest wait", async () => {
    const { process, runs, end } = workshop();
    const ask = process({ pace: { quietMs: 60, longestWaitMs: 300 } });
    const asked: Promise<Recompiled>[] = [];
    const startMs = performance.now();
    while (runs.length === 0 && performance.now() - startMs < 3000) {
      asked.push(ask());
      await sleep(10);
    }
    const waitedMs = performance.now() - startMs;
    expect(waitedMs).toBeGreaterThan(250);
    expect(waitedMs).toBeLessThan(2000);
    end(1);
    await sleep(500);
    end(2);
    expect(new Set(await generations(asked)).size).toBeLessThanOrEqual(2);
  });

  it("say of one compile who asked for it, each once", async () => {
    const { process, runs, started, end } = workshop();
    const ask = process();
    void ask();
    await started(1);
    const asked = [ask({ by: "ann", why: "a" }), ask({ by: "ben", why: "b" }), ask({ by: "ann", why: "a" }), ask()];
    end(1);
    await started(2);
    expect(runs[1]?.publishing).toEqual({ by: "ann, ben", why: "a; b" });
    end(2);
    expect(await generations(asked)).toEqual([2, 2, 2, 2]);
  });

  it("give a canary a compile of its own, which nobody else gets the answer of", async () => {
    const { process, runs, started, end } = workshop();
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
    expect(await generations([first, canary, other])).toEqual([1, 2, 3]);
  });
});

describe("triggers of many processes", () => {
  it("make one compile and one more, and all are told what came of theirs", async () => {
    const { process, runs, started, end, most } = workshop();
    const first = process()();
    await started(1);
    const others = Array.from({ length: 8 }, () => process()).flatMap((ask) => [ask(), ask(), ask()]);
    await sleep(100);
    expect(runs.length).toBe(1);
    end(1);
    await started(2);
    await sleep(100);
    end(2);
    expect(await generations([first, ...others])).toEqual([1, ...others.map(() => 2)]);
    expect([runs.length, most()]).toEqual([2, 1]);
    expect((await others[20])?.diagnostics).toEqual([warning]);
  });

  it("join a compile that has not begun, and make it wait for them", async () => {
    const { process, runs, started, end } = workshop();
    const slow = { pace: { quietMs: 150, longestWaitMs: 2000 } };
    const [a, b] = [process(slow), process(slow)];
    const asked = [a({ by: "ann" })];
    await sleep(75);
    asked.push(b({ by: "ben" }));
    await started(1);
    expect(runs[0]?.publishing).toEqual({ by: "ann, ben" });
    end(1);
    expect(await generations(asked)).toEqual([1, 1]);
  });

  it("hand on by whom the next compile was asked for", async () => {
    const { process, runs, started, end } = workshop();
    const [a, b, c] = [process(), process(), process()];
    const first = a();
    await started(1);
    const asked = [b({ by: "ben" }), c({ by: "cleo" })];
    await sleep(150);
    end(1);
    await started(2);
    expect(runs[1]?.publishing?.by?.split(", ").sort()).toEqual(["ben", "cleo"]);
    end(2);
    expect(await generations([first, ...asked])).toEqual([1, 2, 2]);
  });

  it("all hear why a compile failed, and the next trigger compiles again", async () => {
    const { process, started, end } = workshop();
    const [a, b] = [process(), process()];
    const first = a();
    await started(1);
    const second = b();
    const third = a();
    end(1, new PortolanError("the store is full", [warning]));
    await expect(first).rejects.toThrow("the store is full");
    await started(2);
    end(2, new TypeError("secret detail"));
    const told = await Promise.allSettled([second, third]);
    const reasons = told.map((one) => (one.status === "rejected" ? String(one.reason) : "done"));
    expect(reasons.filter((reason) => reason.includes("secret detail")).length).toBe(1);
    expect(reasons.filter((reason) => reason.includes("an error of Portolan's own")).length).toBe(1);
    const again = b();
    await started(3);
    end(3);
    expect((await again).generation).toBe(3);
  });
});

describe("a holder of the lease", () => {
  it("is replaced when it has died, and what it made late is not published", async () => {
    const { store, process, started, end } = workshop();
    // A process that is stopped: neither its timers nor its compile go on.
    const dead = process({ pace: { leaseMs: 1e9 } });
    const first = dead();
    first.catch(() => {});
    await started(1);
    const takenOver: string[] = [];
    const alive = process({ onTakenOver: ({ holder }) => takenOver.push(holder) });
    const { holder } = (await seeLease(store, Date.now)).note;
    const second = alive();
    await started(2);
    expect(takenOver).toEqual([holder]);
    end(1);
    await expect(first).rejects.toThrow("has taken over the lease of this compile");
    end(2);
    expect((await second).generation).toBe(2);
    expect((await seeLease(store, Date.now)).note.state).toBe("free");
  });

  it("is not replaced while it gives signs of life, however long it compiles", async () => {
    const { process, runs, started, end } = workshop();
    const first = process()();
    await started(1);
    const second = process()();
    await sleep(3 * pace.leaseMs);
    expect(runs.length).toBe(1);
    end(1);
    await started(2);
    end(2);
    expect(await generations([first, second])).toEqual([1, 2]);
  });

  it("that hangs is given up after the time of a turn, with the reason in the answer, and the next trigger compiles", async () => {
    const { process, started, end } = workshop();
    const ask = process({ pace: { turnMs: 200 } });
    const hanging = ask();
    await expect(hanging).rejects.toThrow("was not done within 0.2 s and is given up");
    const next = process()();
    await started(2);
    end(2);
    expect((await next).generation).toBe(2);
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
    const { process, started, end } = workshop(flaky);
    const ask = process({ onError: (cause) => errors.push(cause), pace: { leaseMs: 60_000 } });
    const first = ask();
    await started(1);
    fails = true;
    end(1);
    expect((await first).generation).toBe(1);
    expect(errors.map(String)).toEqual(["PortolanError: the store fails"]);
    fails = false;
    const second = ask();
    await started(2);
    end(2);
    expect((await second).generation).toBe(2);
  });

  it("that the store fails for is told so, and nothing is under way after it", async () => {
    const broken: ObjectStore = {
      ...memoryStore(),
      get: async () => {
        throw new PortolanError("the store cannot be reached");
      },
    };
    const ask = workshop(broken).process();
    await expect(ask()).rejects.toThrow("the store cannot be reached");
    await expect(ask({ share: { percent: 1, labels: {} } })).rejects.toThrow("the store cannot be reached");
  });
});

describe("a lease that cannot be read", () => {
  it.each(["", "rubbish", "[]", '{"serial":1}'])("counts as none: %j", async (text) => {
    const { store, process, started, end } = workshop();
    await store.put(leaseKey, new TextEncoder().encode(text));
    const asked = process()();
    await started(1);
    end(1);
    expect((await asked).generation).toBe(1);
    const found = await store.get(leaseKey);
    expect(readNote(found.kind === "found" ? new TextDecoder().decode(found.bytes) : "").ended).toBe(1);
  });
});
