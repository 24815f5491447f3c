import { describe, expect, it } from "vitest";
import { isWildcard, type ResourceType } from "../../../lib/snapshot/resource-type.ts";
import { namesIn, noNames } from "../../../lib/streams/name-map.ts";
import {
  askedDelta,
  askedWhole,
  type DeltaRequest,
  owing,
  sent,
  type Watch,
  type WholeRequest,
} from "../../../lib/streams/watch.ts";

const tree = { version: "t1", segments: [], parts: [] };
const whole = (type: ResourceType, before: Watch | undefined, request: Partial<WholeRequest>) =>
  askedWhole(isWildcard(type), before, { names: [], version: "", nonce: "", error: undefined, ...request });
const delta = (type: ResourceType, before: Watch | undefined, request: Partial<DeltaRequest>) =>
  askedDelta(isWildcard(type), before, {
    subscribe: [],
    unsubscribe: [],
    known: new Map(),
    nonce: "",
    error: undefined,
    ...request,
  });
const answered = (watch: Watch, nonce: string, names: readonly string[] = ["a", "b"]): Watch =>
  sent(watch, tree, { nonce, names, kept: undefined, version: "v", classId: "c", root: "r" }, noNames);
/** A watch's names and what it is owed, as lists. */
const namesOf = ({ names }: Watch) => (names === "all" ? names : namesIn(names));
const owedTo = ({ owed }: Watch) => (owed.kind === "names" ? namesIn(owed.names) : owed.kind);

describe("a state-of-the-world request", () => {
  const first = whole("clusters", undefined, {}).watch;

  it("without names wants all clusters and listeners, and no endpoints and routes", () => {
    expect(first).toMatchObject({ names: "all", owed: { kind: "all" } });
    expect(whole("routes", undefined, {}).watch).toMatchObject({ names: noNames, owed: { kind: "nothing" } });
  });

  it("brings the version of its last stream, which counts for what comes whole and for nothing else", () => {
    expect(whole("clusters", undefined, { version: "v" }).watch.owed).toMatchObject({ version: "v" });
    expect(whole("routes", undefined, { version: "v", names: ["a"] }).watch.owed).toMatchObject({ version: "" });
  });

  it("that accepts an answer is owed nothing, and once more it asks again", () => {
    const open = answered(first, "1");
    const accepted = whole("clusters", open, { nonce: "1" });
    expect(accepted.watch).toMatchObject({ owed: { kind: "nothing" }, open: [] });
    expect(whole("clusters", accepted.watch, { nonce: "1" }).watch.owed).toMatchObject({ kind: "all" });
  });

  it("is owed the names that it adds, and nothing for those that it leaves out", () => {
    const open = answered(whole("endpoints", undefined, { names: ["b", "a"] }).watch, "1");
    const more = whole("endpoints", open, { nonce: "1", names: ["a", "b", "c"] }).watch;
    expect([namesOf(more), owedTo(more)]).toEqual([["a", "b", "c"], ["c"]]);
    const less = whole("endpoints", open, { nonce: "1", names: ["b"] });
    expect([namesOf(less.watch), owedTo(less.watch), less.dropped]).toEqual([["b"], "nothing", ["a"]]);
  });

  it("of an older answer changes nothing but what is known of that answer", () => {
    const open = answered(answered(whole("endpoints", undefined, { names: ["a"] }).watch, "1"), "2");
    const stale = whole("endpoints", open, { nonce: "1", names: ["a", "c"] }).watch;
    expect(namesOf(stale)).toEqual(["a"]);
    expect(stale.open.map(({ nonce }) => nonce)).toEqual(["2"]);
  });

  it("that refuses an answer names what it refuses, until that is taken", () => {
    const refused = whole("clusters", answered(first, "1"), { nonce: "1", error: "cluster b: no" });
    expect(refused.refusal).toMatchObject({ answer: { nonce: "1" }, names: ["b"], error: "cluster b: no" });
    expect(refused.watch.owed.kind).toBe("nothing");
    const other = whole("clusters", answered(refused.watch, "2", ["a"]), { nonce: "2" });
    expect(other).not.toHaveProperty("isMended");
    expect(whole("clusters", answered(other.watch, "3"), { nonce: "3" }).isMended).toBe(true);
  });

  it("that wants everything at first wants nothing any more once it has named something", () => {
    const one = whole("listeners", answered(whole("listeners", undefined, { names: ["a"] }).watch, "1"), {
      nonce: "1",
    });
    expect([namesOf(one.watch), owedTo(one.watch)]).toEqual([[], "nothing"]);
  });
});

describe("a delta request", () => {
  it("at first wants everything of what comes whole, but for what it has", () => {
    const known = new Map([["a", "1"]]);
    expect(delta("clusters", undefined, { known }).watch).toMatchObject({ names: "all", owed: { kind: "all", known } });
    expect(namesOf(delta("routes", undefined, {}).watch)).toEqual([]);
    expect(delta("routes", undefined, { subscribe: ["*"] }).watch.names).toBe("all");
  });

  it("is owed what it subscribes to, though it had that before and whatever its nonce", () => {
    const open = answered(delta("routes", undefined, { subscribe: ["a"] }).watch, "1");
    const more = delta("routes", open, { nonce: "gone", subscribe: ["a", "b"] }).watch;
    expect([namesOf(more), owedTo(more)]).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    expect(more.open).toHaveLength(1);
    const less = delta("routes", more, { unsubscribe: ["a"] }).watch;
    expect([namesOf(less), owedTo(less)]).toEqual([["b"], ["b"]]);
  });

  it("that accepts an answer is owed nothing, however often it does", () => {
    const open = answered(delta("clusters", undefined, {}).watch, "1");
    const accepted = delta("clusters", open, { nonce: "1" }).watch;
    expect(delta("clusters", accepted, { nonce: "1" }).watch).toMatchObject({ owed: { kind: "nothing" }, open: [] });
  });

  it("that unsubscribes from all its names wants nothing, and not everything", () => {
    const none = delta("clusters", answered(delta("clusters", undefined, { subscribe: ["a"] }).watch, "1"), {
      unsubscribe: ["a"],
    }).watch;
    expect(namesOf(none)).toEqual([]);
    expect(namesOf(delta("clusters", none, { nonce: "1" }).watch)).toEqual([]);
  });
});

describe("a delta watch of names", () => {
  it("gains what is subscribed to and loses what is not any more, one at a time or many", () => {
    const wanted = new Set<string>();
    let watch = delta("routes", undefined, { subscribe: ["m"] }).watch;
    wanted.add("m");
    for (let i = 1; i < 300; i += 1) {
      const subscribe = Array.from({ length: i % 4 }, (_, at) => `r${(i * 37 + at * 11) % 50}`);
      const unsubscribe = Array.from({ length: i % 3 }, (_, at) => `r${(i * 17 + at * 5) % 50}`);
      watch = delta("routes", watch, { subscribe, unsubscribe }).watch;
      for (const name of unsubscribe) wanted.delete(name);
      for (const name of subscribe) wanted.add(name);
      expect(namesOf(watch)).toEqual([...wanted].toSorted());
    }
  });
});

describe("a watch, whatever it is asked", () => {
  /** Numbers that look like chance and are the same each time. */
  function* numbers(seed: number): Generator<number> {
    for (let state = seed; ; ) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      yield state / 2 ** 32;
    }
  }

  it.each([1, 2, 3, 4])("keeps sorted names, few open answers, and owes only what is wanted (seed %i)", (seed) => {
    const chance = numbers(seed);
    const pick = <T>(first: T, ...others: readonly T[]): T =>
      others[Math.floor((chance.next().value ?? 0) * (others.length + 1)) - 1] ?? first;
    const some = () => ["a", "b", "c", "d", "*"].filter(() => pick(true, false, false));
    for (const [type, ask] of [
      ...(["clusters", "routes"] as const).flatMap(
        (of) =>
          [
            [of, whole],
            [of, delta],
          ] as const,
      ),
    ]) {
      let watch: Watch | undefined;
      for (let i = 0; i < 500; i += 1) {
        const nonce = pick("", String(i), watch?.nonce ?? "", watch?.open[0]?.nonce ?? "");
        const error = pick(undefined, undefined, "a is wrong");
        watch = ask(type, watch, { names: some(), subscribe: some(), unsubscribe: some(), nonce, error }).watch;
        if (pick(true, false)) watch = owing(watch, watch.names === "all" ? ["a"] : namesIn(watch.names));
        if (pick(true, false)) watch = answered(watch, `n${i}`);
        const { names, owed, open } = watch;
        if (names !== "all") expect(namesIn(names)).toEqual([...new Set(namesIn(names))].toSorted());
        if (names !== "all" && owed.kind === "names")
          expect(namesIn(owed.names).filter((name) => !namesIn(names).includes(name))).toEqual([]);
        expect(open.length).toBeLessThanOrEqual(8);
      }
    }
  });
});

describe("a delta watch of many names", () => {
  const many = 50_000;
  const name = (i: number) => `name-${i}`;
  const wanted = () =>
    answered(delta("routes", undefined, { subscribe: Array.from({ length: many }, (_, i) => name(i)) }).watch, "0", []);

  /** Entries of the watch's lists that a request copies. */
  function copied(before: Watch, after: Watch): number {
    const mapsOf = ({ names, owed, refused, gone }: Watch) => [
      ...(names === "all" ? [] : [names]),
      ...(owed.kind === "names" ? [owed.names] : []),
      refused,
      gone,
    ];
    const known = new Set<unknown>(mapsOf(before).flatMap(({ chunks }) => chunks.map(({ names }) => names)));
    const chunks = mapsOf(after).flatMap((map) => map.chunks.map(({ names }) => names));
    return chunks.filter((names) => !known.has(names)).reduce((sum, names) => sum + names.length, 0);
  }

  it.each([
    ["subscribes to one more", (i: number) => ({ subscribe: [`other-${i}`] })],
    ["subscribes to one of them again", (i: number) => ({ subscribe: [name((i * 7_919) % many)] })],
    ["unsubscribes from one of them", (i: number) => ({ unsubscribe: [name((i * 7_919) % many)] })],
    ["accepts an answer", (i: number) => ({ nonce: String(i) })],
    ["refuses an answer", (i: number) => ({ nonce: String(i), error: "no" })],
  ])("costs what a request says that %s, and not what was said before", (_what, requestOf) => {
    let watch = wanted();
    // All of them are refused, so that lists of what is refused are as long.
    watch = delta("routes", answered(watch, "all", namesIn(watch.names === "all" ? noNames : watch.names)), {
      nonce: "all",
      error: "no",
    }).watch;
    let work = 0;
    for (let i = 1; i <= 2_000; i += 1) {
      const sentOne = answered(watch, String(i), [name(i)]);
      const next = delta("routes", sentOne, requestOf(i)).watch;
      work += copied(sentOne, next);
      watch = next;
    }
    expect(work / 2_000).toBeLessThan(100);
  });
});
