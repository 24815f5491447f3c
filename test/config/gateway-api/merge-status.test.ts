import { describe, expect, it } from "vitest";
import { mergedStatus } from "../../../lib/config/gateway-api/status/merge-status.ts";
import type { Condition } from "../../../lib/config/gateway-api/status/status.ts";

const condition = (type: string, status: Condition["status"], more: Partial<Condition> = {}): Condition => ({
  type,
  status,
  reason: type,
  message: "",
  ...more,
});
const options = { namespace: "ns", controllers: ["ours"], now: "2026-01-02T00:00:00Z" };
const old = "2026-01-01T00:00:00Z";
const parent = (controllerName: string, name: string, conditions: readonly Condition[] = []) => ({
  parentRef: { group: "gateway.networking.k8s.io", kind: "Gateway", name },
  controllerName,
  conditions,
});

describe("a status that is put into the one that an object has", () => {
  it("keeps entries of others where they stand, replaces ours, takes away those that mean nothing any more, and appends new ones", () => {
    const written = {
      parents: [parent("ours", "gone"), parent("theirs", "a"), parent("ours", "b"), parent("theirs", "c")],
    };
    const fresh = { parents: [parent("ours", "new"), parent("ours", "b")] };
    expect(mergedStatus(written, fresh, options)).toMatchObject({
      parents: [parent("theirs", "a"), parent("ours", "b"), parent("theirs", "c"), parent("ours", "new")],
    });
  });

  it("knows a parent by what is meant, however it is written", () => {
    const written = {
      parents: [{ parentRef: { name: "a", namespace: "ns" }, controllerName: "ours", conditions: [] }],
    };
    expect(mergedStatus(written, { parents: [parent("ours", "a")] }, options)).toEqual({
      parents: [parent("ours", "a")],
    });
  });

  it("gives a condition a new time only with a new status, and keeps conditions that it does not speak of", () => {
    const before = [
      condition("Theirs", "Unknown", { lastTransitionTime: old }),
      condition("Ready", "True", { lastTransitionTime: old, message: "then" }),
      condition("Programmed", "False", { lastTransitionTime: old }),
    ];
    const fresh = {
      conditions: [condition("Accepted", "True"), condition("Programmed", "True"), condition("Ready", "True")],
    };
    expect(mergedStatus({ conditions: before }, fresh, options)).toEqual({
      conditions: [
        before[0],
        condition("Ready", "True", { lastTransitionTime: old }),
        condition("Programmed", "True", { lastTransitionTime: options.now }),
        condition("Accepted", "True", { lastTransitionTime: options.now }),
      ],
    });
  });

  it("says it of listeners by their names, and keeps an address that was told", () => {
    const listener = (name: string, conditions: readonly Condition[]) => ({
      name,
      attachedRoutes: 0,
      supportedKinds: [],
      conditions,
    });
    const written = {
      addresses: [{ type: "Hostname", value: "a" }],
      listeners: [listener("gone", []), listener("web", [condition("Ready", "True", { lastTransitionTime: old })])],
      supportedFeatures: [{ name: "Gateway" }],
    };
    const fresh = { conditions: [], listeners: [listener("web", [condition("Ready", "True")])] };
    expect(mergedStatus(written, fresh, options)).toEqual({
      addresses: [{ type: "Hostname", value: "a" }],
      conditions: [],
      listeners: [listener("web", [condition("Ready", "True", { lastTransitionTime: old })])],
      supportedFeatures: [{ name: "Gateway" }],
    });
  });

  it("holds at most 16 ancestors of a policy, those that are there first", () => {
    const ancestor = (controllerName: string, name: string) => ({
      ancestorRef: { name },
      controllerName,
      conditions: [],
    });
    const names = Array.from({ length: 15 }, (_, at) => `t${at}`);
    const written = { ancestors: names.map((name) => ancestor("theirs", name)) };
    const fresh = { ancestors: [ancestor("ours", "a"), ancestor("ours", "b")] };
    expect(mergedStatus(written, fresh, options)).toEqual({ ancestors: [...written.ancestors, ancestor("ours", "a")] });
  });

  it("reads whatever stands there: nobody has validated it", () => {
    for (const written of [null, "x", { parents: "x" }, { parents: [null, { controllerName: "ours" }] }])
      expect(mergedStatus(written, { parents: [parent("ours", "a")] }, options)).toMatchObject({
        parents: expect.arrayContaining([parent("ours", "a")]),
      });
  });
});
