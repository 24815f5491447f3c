import { describe, expect, it } from "vitest";
import { createEnvoyRollout, type EnvoyRollout } from "../../../lib/agent/xds/envoy-rollout.ts";
import { type CoreType, coreTypes } from "../../../lib/snapshot/resource-type.ts";
import { local, offer, type Versions, versionsOf } from "./offers.ts";

const facts = { isWarm: true, isServing: true, isBarred: false };

/**
 * An Envoy that takes what it is offered but for some resources, `type name version`.
 *
 * @param isNaming whether it names what it refuses
 * @returns how many answers it refused
 */
function takeAll(rollout: EnvoyRollout, refuses: ReadonlySet<string>, isNaming = false): number {
  const has = new Map<string, string>();
  let refusals = 0;
  for (let steps = 0; steps < 200; steps += 1) {
    const hasMoved = rollout.advance(facts);
    if (!hasMoved && rollout.isSettled()) return refusals;
    const now = versionsOf(rollout.offered());
    let isRefused = false;
    for (const type of coreTypes) {
      const answered = Object.entries(now[type] ?? {}).filter(
        ([name, version]) => has.get(`${type} ${name}`) !== version,
      );
      const bad = answered.filter(([name, version]) => refuses.has(`${type} ${name} ${version}`)).map(([name]) => name);
      const resources = answered.map(([name, version]) => local(name, version));
      if (bad.length > 0) {
        isRefused = true;
        refusals += 1;
        rollout.refuse({ type, answered: resources, named: isNaming ? bad : undefined, words: `bad: ${bad.join()}` });
        break;
      }
      for (const [name, version] of answered) has.set(`${type} ${name}`, version);
      rollout.accept(type, resources);
    }
    if (!isRefused) rollout.settle();
  }
  throw new Error("it does not end");
}

const numbered = (count: number, version: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`r${at}`, version]));

function leadingFrom(kept: Versions): EnvoyRollout {
  const rollout = createEnvoyRollout(offer(kept));
  rollout.connect();
  return rollout;
}

describe("what an Envoy refuses", () => {
  const names = (rollout: EnvoyRollout) =>
    rollout.refused().map(({ type, name, version }) => `${type} ${name} ${version}`);

  it("stays as it was, and its neighbours go on, where Envoy names it", () => {
    const rollout = leadingFrom({ clusters: { a: "1", b: "1" } });
    rollout.want(offer({ clusters: { a: "2", b: "2", c: "2" } }), []);
    expect(takeAll(rollout, new Set(["clusters b 2"]), true)).toBe(1);
    expect(versionsOf(rollout.taken())).toEqual({ clusters: { a: "2", b: "1", c: "2" } });
    expect([names(rollout), rollout.isDone()]).toEqual([["clusters b 2"], true]);
  });

  it.each<CoreType>(["clusters", "endpoints", "routes"])(
    "is found by halves among many %s where Envoy names none",
    (type) => {
      const rollout = leadingFrom({ listeners: { l: "1" }, [type]: numbered(100, "1") });
      rollout.want(offer({ listeners: { l: "1" }, [type]: numbered(100, "2") }), []);
      const refusals = takeAll(rollout, new Set([`${type} r17 2`, `${type} r64 2`]));
      expect(names(rollout).toSorted()).toEqual([`${type} r17 2`, `${type} r64 2`]);
      expect(versionsOf(rollout.taken())[type]).toEqual({ ...numbered(100, "2"), r17: "1", r64: "1" });
      // Twice the way down a tree of a hundred leaves, not once for each of them.
      expect(refusals).toBeLessThan(20);
    },
  );

  it("is not there where nothing was taken before, and a table or endpoints are empty", () => {
    const rollout = leadingFrom({ listeners: { l: "1" } });
    rollout.want(offer({ listeners: { l: "1" }, clusters: { a: "1" }, routes: { 80: "1" } }), []);
    takeAll(rollout, new Set(["clusters a 1", "routes 80 1"]));
    const taken = rollout.taken();
    expect(taken.clusters.size).toBe(0);
    expect([taken.routes.get("80")?.source, taken.routes.get("80")?.version]).not.toContain("1");
  });

  it("is tried again when it is another, and forgotten when it is not wanted any more", () => {
    const rollout = leadingFrom({ clusters: { a: "1" } });
    rollout.want(offer({ clusters: { a: "2" } }), []);
    takeAll(rollout, new Set(["clusters a 2"]));
    rollout.want(offer({ clusters: { a: "3" } }), []);
    expect(rollout.refused()).toEqual([]);
    takeAll(rollout, new Set(["clusters a 2"]));
    expect(versionsOf(rollout.taken())).toEqual({ clusters: { a: "3" } });
  });

  it("is what Envoy took last, also when it took the rest of that not yet", () => {
    const rollout = leadingFrom({ clusters: { a: "1" }, routes: { 80: "1" } });
    rollout.want(offer({ clusters: { a: "1" }, routes: { 80: "2", 81: "1" } }), []);
    rollout.advance(facts);
    rollout.settle();
    rollout.advance(facts);
    rollout.accept("routes", [local("80", "2")]);
    rollout.want(offer({ clusters: { a: "1" }, routes: { 80: "3", 81: "1" } }), []);
    rollout.advance(facts);
    rollout.settle();
    rollout.advance(facts);
    rollout.refuse({ type: "routes", answered: [local("80", "3")], named: undefined, words: "no" });
    rollout.advance(facts);
    expect(versionsOf(rollout.offered()).routes?.[80]).toBe("2");
  });

  it("is said of the version that was refused, not of one that came after it", () => {
    const rollout = leadingFrom({ clusters: { a: "1" } });
    for (const version of ["2", "3"]) {
      rollout.want(offer({ clusters: { a: version } }), []);
      rollout.advance(facts);
    }
    rollout.refuse({ type: "clusters", answered: [local("a", "2")], named: undefined, words: "no" });
    expect([rollout.refused(), versionsOf(rollout.offered())]).toEqual([[], { clusters: { a: "3" } }]);
  });

  it("is found behind routes that Envoy names, whose neighbours it may not have read", () => {
    const rollout = leadingFrom({ listeners: { l: "1" }, routes: numbered(10, "1") });
    rollout.want(offer({ listeners: { l: "1" }, routes: numbered(10, "2") }), []);
    takeAll(rollout, new Set(["routes r3 2", "routes r8 2"]), true);
    expect(names(rollout).toSorted()).toEqual(["routes r3 2", "routes r8 2"]);
    expect(versionsOf(rollout.taken()).routes).toEqual({ ...numbered(10, "2"), r3: "1", r8: "1" });
  });

  it("is said of what the agent itself cannot send", () => {
    const rollout = leadingFrom({ clusters: { a: "1", b: "1" } });
    rollout.want(offer({ clusters: { b: "2" } }), [{ type: "clusters", name: "a", problem: "no such field" }]);
    takeAll(rollout, new Set());
    expect(versionsOf(rollout.taken())).toEqual({ clusters: { a: "1", b: "2" } });
    expect(rollout.refused()).toEqual([
      { type: "clusters", name: "a", version: "", words: "the agent cannot send it: no such field" },
    ]);
  });
});

describe("an Envoy that ends", () => {
  it("over what it has not taken is started with what was taken before, and that is tried again when it may", () => {
    const rollout = leadingFrom({ clusters: { a: "1" } });
    rollout.want(offer({ clusters: { a: "2" } }), []);
    rollout.advance(facts);
    expect(rollout.end()).toBe(true);
    expect(versionsOf(rollout.offered())).toEqual({ clusters: { a: "1" } });
    expect(rollout.advance({ ...facts, isServing: false, isBarred: true })).toBe(false);
    expect(rollout.advance({ ...facts, isServing: false })).toBe(true);
    expect(versionsOf(rollout.offered())).toEqual({ clusters: { a: "2" } });
  });

  it("is no sign against what it had taken, nor against the first that there ever was", () => {
    const rollout = leadingFrom({ clusters: { a: "1" } });
    rollout.want(offer({ clusters: { a: "2" } }), []);
    takeAll(rollout, new Set());
    expect(rollout.end()).toBe(false);
    const first = leadingFrom({});
    first.want(offer({ clusters: { a: "1" } }), []);
    first.advance({ ...facts, isServing: false });
    expect(first.end()).toBe(false);
    expect(versionsOf(first.offered())).toEqual({ clusters: { a: "1" } });
  });
});
