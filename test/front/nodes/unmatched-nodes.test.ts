import { describe, expect, it } from "vitest";
import { createUnmatchedWatch, type UnmatchedNode } from "../../../lib/front/nodes/unmatched-nodes.ts";
import { unmatchedRemedy } from "../../../lib/front/nodes/unmatched-remedy.ts";

function watch() {
  let nowMs = 0;
  const told: UnmatchedNode[] = [];
  const strangers = createUnmatchedWatch(
    () => nowMs,
    (stranger) => told.push(stranger),
    1_000,
  );
  const active = () => strangers.active().map(({ nodeId }) => nodeId);
  return { strangers, told, active, pass: (ms: number) => (nowMs += ms) };
}

const unknown = { kind: "unplaced", reason: "matches no compiled class" } as const;
const byDefault = { kind: "placed", classId: "c1", byDefault: "sidecar/shop" } as const;
const known = { kind: "placed", classId: "c2" } as const;

describe("nodes without a class of their own", () => {
  it("are told once, for as long as they go on asking", () => {
    const { strangers, told, active, pass } = watch();
    for (let i = 0; i < 5; i += 1) {
      strangers.placed({ nodeId: "a" }, unknown);
      pass(900);
    }
    expect(told).toEqual([{ nodeId: "a", kind: "unknown", reason: unknown.reason, sinceMs: 0 }]);
    strangers.placed({ nodeId: "b" }, byDefault);
    expect(active()).toEqual(["b", "a"]);
    expect(told[1]?.reason).toContain('it gets "c1", the default of sidecar/shop');
  });

  it("are told again when it is worse or better than it was, and forgotten when they have one or are gone", () => {
    const { strangers, told, active, pass } = watch();
    strangers.placed({ nodeId: "a" }, byDefault);
    strangers.placed({ nodeId: "a" }, unknown);
    expect(told.map(({ kind }) => kind)).toEqual(["default", "unknown"]);
    strangers.placed({ nodeId: "b" }, unknown);
    strangers.placed({ nodeId: "a" }, known);
    expect(active()).toEqual(["b"]);
    pass(2_000);
    expect(active()).toEqual([]);
  });

  it("are not forgotten for what somebody says under their id who may not", () => {
    const { strangers, active } = watch();
    strangers.placed({ nodeId: "a" }, unknown);
    strangers.placed({ nodeId: "a" }, { kind: "forbidden", reason: "it is somebody else" });
    expect(active()).toEqual(["a"]);
  });

  it("fill neither memory nor a log with ids that somebody makes up", () => {
    const { strangers, told, active } = watch();
    for (let i = 0; i < 5_000; i += 1) strangers.placed({ nodeId: `made-up-${i}-${"x".repeat(100_000)}` }, unknown);
    expect(told).toHaveLength(1_000);
    expect(JSON.stringify(active()).length).toBeLessThan(1_000_000);
  });

  it("come with what to do", () => {
    const remedy = (nodeId: string, kind: UnmatchedNode["kind"]) =>
      unmatchedRemedy({ nodeId, kind, reason: "", sinceMs: 0 });
    expect(remedy("envoy-1", "unknown")).toContain("portolan bootstrap POD.NAMESPACE");
    expect(remedy("sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local", "unknown")).toMatch(
      /^publish web-1\.shop as a pod .* serviceAccount/,
    );
    expect(remedy("sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local", "default")).toContain("with its labels");
  });
});
