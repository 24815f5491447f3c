import { describe, expect, it } from "vitest";
import { createLeading, type Leading } from "../../../lib/agent/xds/leading.ts";
import { type CoreType, coreTypes } from "../../../lib/snapshot/resource-type.ts";
import { local, offer, type Versions, versionsOf } from "./offers.ts";

const facts = { isWarm: true, isServing: true, isBarred: false };

/**
 * An Envoy that takes what it is offered but for some resources, `type name version`.
 *
 * @param isNaming whether it names what it refuses
 * @returns how many answers it refused
 */
function takeAll(leading: Leading, refuses: ReadonlySet<string>, isNaming = false): number {
  const has = new Map<string, string>();
  let refusals = 0;
  for (let steps = 0; steps < 200; steps += 1) {
    const hasMoved = leading.advance(facts);
    if (!hasMoved && leading.isSettled()) return refusals;
    const now = versionsOf(leading.offered());
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
        leading.refuse({ type, answered: resources, named: isNaming ? bad : undefined, words: `bad: ${bad.join()}` });
        break;
      }
      for (const [name, version] of answered) has.set(`${type} ${name}`, version);
      leading.accept(type, resources);
    }
    if (!isRefused) leading.settle();
  }
  throw new Error("it does not end");
}

const numbered = (count: number, version: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`r${at}`, version]));

function leadingFrom(kept: Versions): Leading {
  const leading = createLeading(offer(kept));
  leading.connect();
  return leading;
}

describe("what an Envoy refuses", () => {
  const names = (leading: Leading) => leading.refused().map(({ type, name, version }) => `${type} ${name} ${version}`);

  it("stays as it was, and its neighbours go on, where Envoy names it", () => {
    const leading = leadingFrom({ clusters: { a: "1", b: "1" } });
    leading.want(offer({ clusters: { a: "2", b: "2", c: "2" } }), []);
    expect(takeAll(leading, new Set(["clusters b 2"]), true)).toBe(1);
    expect(versionsOf(leading.taken())).toEqual({ clusters: { a: "2", b: "1", c: "2" } });
    expect([names(leading), leading.isDone()]).toEqual([["clusters b 2"], true]);
  });

  it.each<CoreType>(["clusters", "endpoints", "routes"])(
    "is found by halves among many %s where Envoy names none",
    (type) => {
      const leading = leadingFrom({ listeners: { l: "1" }, [type]: numbered(100, "1") });
      leading.want(offer({ listeners: { l: "1" }, [type]: numbered(100, "2") }), []);
      const refusals = takeAll(leading, new Set([`${type} r17 2`, `${type} r64 2`]));
      expect(names(leading).toSorted()).toEqual([`${type} r17 2`, `${type} r64 2`]);
      expect(versionsOf(leading.taken())[type]).toEqual({ ...numbered(100, "2"), r17: "1", r64: "1" });
      // Twice the way down a tree of a hundred leaves, not once for each of them.
      expect(refusals).toBeLessThan(20);
    },
  );

  it("is not there where nothing was taken before, and a table or endpoints are empty", () => {
    const leading = leadingFrom({ listeners: { l: "1" } });
    leading.want(offer({ listeners: { l: "1" }, clusters: { a: "1" }, routes: { 80: "1" } }), []);
    takeAll(leading, new Set(["clusters a 1", "routes 80 1"]));
    const taken = leading.taken();
    expect(taken.clusters.size).toBe(0);
    expect([taken.routes.get("80")?.source, taken.routes.get("80")?.version]).not.toContain("1");
  });

  it("is tried again when it is another, and forgotten when it is not wanted any more", () => {
    const leading = leadingFrom({ clusters: { a: "1" } });
    leading.want(offer({ clusters: { a: "2" } }), []);
    takeAll(leading, new Set(["clusters a 2"]));
    leading.want(offer({ clusters: { a: "3" } }), []);
    expect(leading.refused()).toEqual([]);
    takeAll(leading, new Set(["clusters a 2"]));
    expect(versionsOf(leading.taken())).toEqual({ clusters: { a: "3" } });
  });

  it("is what Envoy took last, also when it took the rest of that not yet", () => {
    const leading = leadingFrom({ clusters: { a: "1" }, routes: { 80: "1" } });
    leading.want(offer({ clusters: { a: "1" }, routes: { 80: "2", 81: "1" } }), []);
    leading.advance(facts);
    leading.settle();
    leading.advance(facts);
    leading.accept("routes", [local("80", "2")]);
    leading.want(offer({ clusters: { a: "1" }, routes: { 80: "3", 81: "1" } }), []);
    leading.advance(facts);
    leading.settle();
    leading.advance(facts);
    leading.refuse({ type: "routes", answered: [local("80", "3")], named: undefined, words: "no" });
    leading.advance(facts);
    expect(versionsOf(leading.offered()).routes?.[80]).toBe("2");
  });

  it("is said of the version that was refused, not of one that came after it", () => {
    const leading = leadingFrom({ clusters: { a: "1" } });
    for (const version of ["2", "3"]) {
      leading.want(offer({ clusters: { a: version } }), []);
      leading.advance(facts);
    }
    leading.refuse({ type: "clusters", answered: [local("a", "2")], named: undefined, words: "no" });
    expect([leading.refused(), versionsOf(leading.offered())]).toEqual([[], { clusters: { a: "3" } }]);
  });

  it("is found behind routes that Envoy names, whose neighbours it may not have read", () => {
    const leading = leadingFrom({ listeners: { l: "1" }, routes: numbered(10, "1") });
    leading.want(offer({ listeners: { l: "1" }, routes: numbered(10, "2") }), []);
    takeAll(leading, new Set(["routes r3 2", "routes r8 2"]), true);
    expect(names(leading).toSorted()).toEqual(["routes r3 2", "routes r8 2"]);
    expect(versionsOf(leading.taken()).routes).toEqual({ ...numbered(10, "2"), r3: "1", r8: "1" });
  });

  it("is said of what the agent itself cannot send", () => {
    const leading = leadingFrom({ clusters: { a: "1", b: "1" } });
    leading.want(offer({ clusters: { b: "2" } }), [{ type: "clusters", name: "a", problem: "no such field" }]);
    takeAll(leading, new Set());
    expect(versionsOf(leading.taken())).toEqual({ clusters: { a: "1", b: "2" } });
    expect(leading.refused()).toEqual([
      { type: "clusters", name: "a", version: "", words: "the agent cannot send it: no such field" },
    ]);
  });
});

describe("an Envoy that ends", () => {
  it("over what it has not taken is started with what was taken before, and that is tried again when it may", () => {
    const leading = leadingFrom({ clusters: { a: "1" } });
    leading.want(offer({ clusters: { a: "2" } }), []);
    leading.advance(facts);
    expect(leading.end()).toBe(true);
    expect(versionsOf(leading.offered())).toEqual({ clusters: { a: "1" } });
    expect(leading.advance({ ...facts, isServing: false, isBarred: true })).toBe(false);
    expect(leading.advance({ ...facts, isServing: false })).toBe(true);
    expect(versionsOf(leading.offered())).toEqual({ clusters: { a: "2" } });
  });

  it("is no sign against what it had taken, nor against the first that there ever was", () => {
    const leading = leadingFrom({ clusters: { a: "1" } });
    leading.want(offer({ clusters: { a: "2" } }), []);
    takeAll(leading, new Set());
    expect(leading.end()).toBe(false);
    const first = leadingFrom({});
    first.want(offer({ clusters: { a: "1" } }), []);
    first.advance({ ...facts, isServing: false });
    expect(first.end()).toBe(false);
    expect(versionsOf(first.offered())).toEqual({ clusters: { a: "1" } });
  });
});
