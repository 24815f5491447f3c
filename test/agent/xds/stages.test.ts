import { describe, expect, it } from "vitest";
import { isSameOffer, type Offer } from "../../../lib/agent/xds/offer.ts";
import { nextStage } from "../../../lib/agent/xds/stages.ts";
import { offer, type Versions, versionsOf } from "./offers.ts";

const ready = { isSettled: true, isWarm: true };

/** All stages from one offer to another, where Envoy takes each and is warm at once. */
function stagesBetween(from: Versions, to: Versions): readonly Versions[] {
  const target = offer(to);
  const stages: Versions[] = [];
  for (let now: Offer = offer(from); !isSameOffer(now, target); ) {
    now = nextStage(now, target, ready);
    stages.push(versionsOf(now));
    if (stages.length > 5) throw new Error("it does not end");
  }
  return stages;
}

describe("the stages from one offer to another", () => {
  it("make before they break where routes lead to another cluster", () => {
    const old = { clusters: { a: "1" }, endpoints: { a: "1" }, routes: { 80: "a" }, listeners: { l: "1" } };
    const next = { clusters: { b: "1" }, endpoints: { b: "1" }, routes: { 80: "b" }, listeners: { l: "1" } };
    expect(stagesBetween(old, next)).toEqual([
      { clusters: { a: "1", b: "1" }, endpoints: { a: "1", b: "1" }, routes: { 80: "a" }, listeners: { l: "1" } },
      { clusters: { a: "1", b: "1" }, endpoints: { a: "1", b: "1" }, routes: { 80: "b" }, listeners: { l: "1" } },
      next,
    ]);
  });

  it("are one where nothing is led elsewhere", () => {
    const old = { clusters: { a: "1" }, endpoints: { a: "1" }, routes: { 80: "a" } };
    expect(stagesBetween(old, { ...old, endpoints: { a: "2" } })).toHaveLength(1);
    expect(stagesBetween(old, { ...old, clusters: { a: "2", b: "1" } })).toHaveLength(1);
  });

  it("have a new table before the listener that names it, and take the old one away after it", () => {
    const old = { clusters: { a: "1" }, routes: { 80: "a" }, listeners: { l: "80" } };
    const next = { clusters: { a: "1" }, routes: { 81: "a" }, listeners: { l: "81" } };
    expect(stagesBetween(old, next)).toEqual([
      { clusters: { a: "1" }, routes: { 80: "a", 81: "a" }, listeners: { l: "80" } },
      { clusters: { a: "1" }, routes: { 80: "a", 81: "a" }, listeners: { l: "81" } },
      next,
    ]);
  });

  it.each([
    ["has taken the stage before", { isSettled: false, isWarm: true }],
    ["is warm", { isSettled: true, isWarm: false }],
  ])("wait until Envoy %s", (_what, facts) => {
    const target = offer({ clusters: { b: "1" }, routes: { 80: "b" } });
    const first = nextStage(offer({ clusters: { a: "1" }, routes: { 80: "a" } }), target, facts);
    expect(versionsOf(first)).toEqual({ clusters: { a: "1", b: "1" }, routes: { 80: "a" } });
    expect(nextStage(first, target, facts)).toBe(first);
    const second = nextStage(first, target, ready);
    expect(versionsOf(second)).toEqual({ clusters: { a: "1", b: "1" }, routes: { 80: "b" } });
    expect(versionsOf(nextStage(second, target, facts))).toEqual(versionsOf(second));
  });

  it("begin anew from where they are when something else is wanted meanwhile", () => {
    const first = nextStage(
      offer({ clusters: { a: "1" }, routes: { 80: "a" } }),
      offer({ clusters: { b: "1" }, routes: { 80: "b" } }),
      ready,
    );
    const other = nextStage(first, offer({ clusters: { c: "1" }, routes: { 80: "c" } }), ready);
    expect(versionsOf(other)).toEqual({ clusters: { a: "1", b: "1", c: "1" }, routes: { 80: "a" } });
  });
});
