import { describe, expect, it } from "vitest";
import { readinessApp } from "../../lib/cli/collect/readiness.ts";

const state = {
  source: "cluster",
  isFilled: true,
  objects: 1,
  pushes: 1,
  pushedBytes: 1,
  asOfMs: 1_000_000,
  failure: "",
};

describe("/readyz of a collector", () => {
  it.each([
    ["fresh", 1_010_000, 200],
    ["a little ahead", 999_000, 200],
    ["stale", 1_100_000, 503],
    ["of a time that is yet to come", 900_000, 503],
  ])("says how a source fares that is %s", async (_what, nowMs, status) => {
    const app = readinessApp({ states: () => [state], staleAfter: 60, now: () => nowMs });
    expect((await app.request("/readyz")).status).toBe(status);
  });
});
