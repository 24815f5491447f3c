import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CompiledList, CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { planStages } from "../../lib/snapshot/head/plan-stages.ts";
import type { PlannedStage } from "../../lib/snapshot/head/planned-stage.ts";
import { createColumns } from "../../lib/snapshot/worlds/columns.ts";
import { contentsOf, worldOf } from "./worlds.ts";

const versionOf = (list: CompiledList) =>
  list
    .flat()
    .map(({ name }) => name)
    .join("+");
const encoder = { versionOf, columns: createColumns() };
const pace = { settleMs: 1_000, retentionMs: 4_000 };
const now = 100_000;

/** A class whose routes name its clusters: what a mesh with these services looks like. */
const mesh = (...services: readonly string[]): CompiledWorld =>
  worldOf({
    web: {
      clusters: Object.fromEntries(services.map((name) => [name, "1"])),
      listeners: { "0.0.0.0_80": "1" },
      routes: { "80": services.join(" ") },
    },
  });

const clusters = (step: PlannedStage | undefined) =>
  step === undefined ? [] : Object.keys(contentsOf(step.world, "web", "clusters"));
const routed = (step: PlannedStage | undefined) =>
  step === undefined
    ? []
    : (contentsOf(step.world, "web", "routes")["80"] ?? "").split(" ").filter((name) => name !== "");

describe("planStages", () => {
  it("takes one step when no cluster comes or goes", () => {
    const before = worldOf({ web: { clusters: { a: "1" }, routes: { "80": "90/10" } } });
    const after = worldOf({ web: { clusters: { a: "2" }, routes: { "80": "50/50" } } });
    expect(planStages(before, [], after, now, pace, encoder)).toEqual([{ world: after, atMs: now }]);
  });

  it("adds clusters before routes name them", () => {
    const steps = planStages(mesh("a"), [], mesh("a", "b"), now, pace, encoder);
    expect(steps.map((step) => [step.atMs - now, clusters(step), routed(step)])).toEqual([
      [0, ["a", "b"], ["a"]],
      [1_000, ["a", "b"], ["a", "b"]],
    ]);
  });

  it("drops clusters only after routes have ceased to name them", () => {
    const steps = planStages(mesh("a", "b"), [], mesh("a"), now, pace, encoder);
    expect(steps.map((step) => [step.atMs - now, clusters(step), routed(step)])).toEqual([
      [0, ["a", "b"], ["a"]],
      [4_000, ["a"], ["a"]],
    ]);
  });

  it("keeps route tables that a listener may still ask for", () => {
    const before = worldOf({ web: { listeners: { l: "rds x" }, routes: { x: "1" } } });
    const after = worldOf({ web: { listeners: { l: "rds y" }, routes: { y: "1" } } });
    const [first, last] = planStages(before, [], after, now, pace, encoder);
    expect(first && Object.keys(contentsOf(first.world, "web", "routes"))).toEqual(["x", "y"]);
    expect(last?.world).toBe(after);
  });

  it("gives new content of a cluster at once", () => {
    const before = worldOf({ web: { clusters: { a: "old" }, routes: { "80": "a" } } });
    const after = worldOf({ web: { clusters: { a: "new", b: "1" }, routes: { "80": "a b" } } });
    const [first] = planStages(before, [], after, now, pace, encoder);
    expect(first && contentsOf(first.world, "web", "clusters")).toEqual({ a: "new", b: "1" });
  });

  it("follows nodes whose class has another id afterwards", () => {
    const before = worldOf(
      { old: { clusters: { a: "1" }, routes: { "80": "a" } } },
      { nodes: [{ keys: ["web-0.default"], classId: "old" }] },
    );
    const after = worldOf(
      { new: { clusters: { b: "1" }, routes: { "80": "b" } } },
      { nodes: [{ keys: ["web-0.default"], classId: "new" }] },
    );
    const [first, second, last] = planStages(before, [], after, now, pace, encoder);
    expect(first && contentsOf(first.world, "old", "clusters")).toEqual({ a: "1", b: "1" });
    expect(second && contentsOf(second.world, "new", "clusters")).toEqual({ a: "1", b: "1" });
    expect(last?.world).toBe(after);
  });

  it("is not put off for ever by publishes in quick succession", () => {
    let served = mesh("s0");
    let pending: readonly PlannedStage[] = [];
    const seen: string[] = [];
    for (let i = 1; i <= 40; i += 1) {
      const at = now + i * 300;
      served = pending.findLast(({ atMs }) => atMs <= at)?.world ?? served;
      const [first, ...rest] = planStages(
        served,
        pending.filter(({ atMs }) => atMs > at),
        mesh(`s${i}`),
        at,
        pace,
        encoder,
      );
      seen.push(...routed(first));
      expect(rest.length).toBeLessThan(12);
      served = first?.world ?? served;
      pending = rest;
    }
    expect(new Set(seen).size).toBeGreaterThan(5);
  });

  it("gives a cluster time again when it was taken back before it was ever routed to", () => {
    const [joining, ...later] = planStages(mesh("a"), [], mesh("d"), now, pace, encoder);
    const [back, ...pending] = planStages(joining?.world ?? mesh("a"), later, mesh("a"), now + 1, pace, encoder);
    const again = planStages(back?.world ?? mesh("a"), pending, mesh("d"), now + 2, pace, encoder);
    const switched = again.find((step) => routed(step).includes("d"));
    expect((switched?.atMs ?? 0) - now).toBeGreaterThanOrEqual(pace.settleMs);
  });

  it("never lets a poller see a route whose cluster it cannot have, at any moment of polling", () => {
    const services = fc.subarray(["a", "b", "c", "d"], { minLength: 1 });
    const publishes = fc.array(fc.record({ services, afterMs: fc.integer({ min: 1, max: 6_000 }) }), { maxLength: 8 });
    fc.assert(
      fc.property(publishes, (list) => {
        const timeline: PlannedStage[] = [{ world: mesh("a"), atMs: 0 }];
        let at = now;
        for (const { services: names, afterMs } of list) {
          at += afterMs;
          const served = timeline.findLast(({ atMs }) => atMs <= at);
          if (served === undefined) throw new Error("nothing served");
          const pending = timeline.filter(({ atMs }) => atMs > at);
          const steps = planStages(served.world, pending, mesh(...names), at, pace, encoder);
          expect(steps.map(({ atMs }) => atMs)).toEqual(steps.map(({ atMs }) => atMs).sort((a, b) => a - b));
          timeline.splice(timeline.indexOf(served) + 1, timeline.length, ...steps);
        }
        for (const [i, step] of timeline.entries()) {
          // A poller may hold routes of this step while its clusters are as old or as new as the pace allows.
          const until = timeline[i + 1]?.atMs ?? Number.POSITIVE_INFINITY;
          const older =
            timeline.filter((other, j) => other.atMs <= step.atMs - pace.settleMs && j <= i).at(-1) ?? timeline[0];
          const newer = timeline.filter(({ atMs }) => atMs >= step.atMs && atMs <= until + pace.settleMs);
          for (const other of [...(step.atMs === 0 ? [] : [older]), ...newer]) {
            const has = new Set(clusters(other));
            const stillRouted = other === older ? routed(step) : routed(step);
            expect(stillRouted.filter((name) => !has.has(name))).toEqual([]);
          }
        }
      }),
    );
  });
});
