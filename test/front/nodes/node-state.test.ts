import { describe, expect, it } from "vitest";
import { type HeldAgainst, nodeStateOf, presenceOf } from "../../../lib/front/nodes/node-state.ts";
import { createNodeVersions } from "../../../lib/front/nodes/node-versions.ts";
import type { NodeStatus } from "../../../lib/front/nodes/node-watch.ts";

const startMs = Date.parse("2026-01-01T00:00:00Z");
const at = (ms: number) => new Date(startMs + ms).toISOString();
const limits = { statusBytes: 1_000_000, refusalMs: 900_000 };
const cds = { nodeId: "sidecar~10.0.0.1~web.shop~shop.svc", type: "clusters", name: "" } as const;

function known() {
  const clock = { ms: startMs };
  const versions = createNodeVersions(
    () => clock.ms,
    () => {},
    limits,
  );
  const presence = () => versions.active().map((one) => presenceOf(one, clock.ms));
  return { clock, versions, presence };
}

describe("whether a node is heard", () => {
  it("is so for three of its own poll intervals; it is gone after ten, and after a minute at least", () => {
    const { clock, versions, presence } = known();
    for (let i = 0; i < 5; i += 1) {
      versions.has(cds, "1", "poll");
      clock.ms += 30_000;
    }
    clock.ms += 59_000;
    expect(presence()).toEqual(["connected"]);
    clock.ms += 2_000;
    expect(presence()).toEqual(["stale"]);
    clock.ms += 208_000;
    expect(presence()).toEqual(["stale"]);
    clock.ms += 2_000;
    expect(presence()).toEqual(["gone"]);
    clock.ms += limits.refusalMs;
    expect(presence()).toEqual([]);
  });

  it("is so while a poll of it is held, and from its end counts the pause and not the hold", () => {
    const { clock, versions, presence } = known();
    for (let i = 0; i < 3; i += 1) {
      versions.has(cds, "1", "poll");
      const leave = versions.holds(cds);
      clock.ms += 600_000;
      expect(presence()).toEqual(["connected"]);
      leave();
      clock.ms += 1_000;
    }
    clock.ms += 6_000;
    expect(presence()).toEqual(["stale"]);
  });

  it("is so while a stream of it is open, however silent, and not any more when its last one ends", () => {
    const { clock, versions, presence } = known();
    const ends = [versions.streams(cds), versions.streams(cds)];
    versions.has(cds, "1", "stream");
    clock.ms += 10 * limits.refusalMs;
    expect(presence()).toEqual(["connected"]);
    ends[0]?.();
    expect(presence()).toEqual(["connected"]);
    ends[1]?.();
    expect(presence()).toEqual(["stale"]);
    clock.ms += 60_000;
    expect(presence()).toEqual(["gone"]);
    versions.streams(cds);
    expect(presence()).toEqual(["connected"]);
  });

  it("does not take an absence for an interval", () => {
    const { clock, versions, presence } = known();
    for (const pauseMs of [1_000, 1_000, 600_000]) {
      versions.has(cds, "1", "poll");
      clock.ms += pauseMs;
    }
    versions.has(cds, "1", "poll");
    clock.ms += 13_000;
    expect(presence()).toEqual(["stale"]);
  });

  it("counts a type by itself: what a node asks for no more is forgotten while it asks for the rest", () => {
    const { clock, versions } = known();
    const rds = { ...cds, type: "routes", name: "80" };
    for (let i = 0; i < 20; i += 1) {
      versions.has(cds, "1", "poll");
      if (i < 3) versions.has(rds, "1", "poll");
      clock.ms += 5_000;
    }
    expect(versions.active().map(({ resources }) => resources.map(({ type }) => type))).toEqual([["clusters"]]);
    expect([versions.isAsking(cds), versions.isAsking(rds), versions.isAsking({ ...cds, nodeId: "other" })]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

const status = (more: Partial<NodeStatus> = {}): NodeStatus => ({
  node: cds.nodeId,
  seen: at(0),
  isOpen: true,
  pauseMs: 2_000,
  resources: [],
  ...more,
});

const held = (
  type: string,
  version: string,
  served: readonly string[] | undefined,
  refused?: { readonly version: string; readonly since: string; readonly error?: string },
): HeldAgainst => ({
  resource: { type, version, since: at(0), transport: "poll", ...(refused === undefined ? {} : { refused }) },
  served,
  parts: [],
});

const stateOf = (resources: readonly HeldAgainst[], one = status(), nowMs = startMs) =>
  nodeStateOf(one, { class: "web", resources, notSent: [] }, nowMs);

describe("the state of a node", () => {
  const refused = { version: "2", since: at(5), error: "no such filter" };

  it("is the worst of what it has, and names what it is served, has accepted and refuses, since when and why", () => {
    const state = stateOf([held("clusters", "1", ["1"]), held("listeners", "1", ["2"], refused)]);
    expect(state).toMatchObject({ name: "web.shop", state: "refused", presence: "connected", class: "web" });
    expect(state.resources).toMatchObject([
      { type: "clusters", state: "synced", served: "1", accepted: "1" },
      {
        type: "listeners",
        state: "refused",
        served: "2",
        accepted: "1",
        refused: { version: "2", since: at(5), reason: "no such filter" },
      },
    ]);
  });

  it("is synced where it has the version of a step to come, and where what it refused is served no more", () => {
    expect(stateOf([held("clusters", "2", ["1", "2"])]).state).toBe("synced");
    const back = stateOf([held("listeners", "1", ["1"], refused)]);
    expect([back.state, back.resources[0]?.refused]).toEqual(["synced", undefined]);
    expect(stateOf([held("listeners", "1", ["3"], refused)]).state).toBe("stale");
  });

  it("is of a node that is not heard neither synced nor refused, whatever it had", () => {
    const away = status({ isOpen: false });
    const resources = [
      held("clusters", "1", ["1"]),
      held("listeners", "1", ["2"], refused),
      held("secrets", "1", undefined),
    ];
    for (const [ms, wanted] of [
      [6_000, "stale"],
      [60_000, "gone"],
    ] as const) {
      const { state, resources: of } = stateOf(resources, away, startMs + ms);
      expect([state, ...of.map((one) => one.state)]).toEqual([wanted, wanted, wanted, wanted]);
    }
  });

  it("says of secrets that they are taken, and of a node without anything that it is sent nothing", () => {
    expect(stateOf([held("secrets", "1", undefined)]).resources[0]?.state).toBe("taken");
    expect(stateOf([]).state).toBe("not-sent");
  });
});
