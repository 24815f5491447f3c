import { describe, expect, it } from "vitest";
import { readinessApp } from "../../lib/cli/collect/readiness.ts";
import type { LookupReport } from "../../lib/resolve/lookup-reports.ts";

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

  it("lists look-ups that fail, which make nobody unready", async () => {
    const reports: readonly LookupReport[] = [
      { kind: "jwks", of: "https://a.example", state: "fresh", keys: 1 },
      { kind: "jwks", of: "https://b.example", state: "stale", keys: 2, problem: "b.example answers 500" },
    ];
    const options = { states: () => [state], staleAfter: 60, now: () => 1_010_000 };
    const answer = await readinessApp({ ...options, lookups: async () => reports }).request("/readyz");
    expect([answer.status, await answer.json()]).toMatchObject([200, { isReady: true, lookups: [reports[1]] }]);
    const unread = await readinessApp({ ...options, lookups: () => Promise.reject(new Error("away")) }).request(
      "/readyz",
    );
    expect([unread.status, await unread.json()]).toEqual([200, { isReady: true, sources: expect.any(Array) }]);
  });
});
