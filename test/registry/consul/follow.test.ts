import { describe, expect, it } from "vitest";
import { followConsul } from "../../../lib/registry/consul/follow.ts";
import type { Pace } from "../../../lib/registry/origin/retry.ts";
import { hurry } from "../kubernetes/fake-api-server.ts";
import { FakeConsul } from "./fake-consul.ts";

describe("a blocking query", () => {
  it.each([
    ["goes back", 2, [0, 11, 0, 2]],
    ["is 0", 0, [0, 11, 0, 0]],
  ])("starts from 0 after an index that %s, and waits a second in between", async (_what, index, want) => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    const stop = new AbortController();
    const asked: number[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      asked.push(Number(new URL(String(input)).searchParams.get("index") ?? 0));
      const answer = consul.fetch(input, init);
      if (asked.length === want.length) stop.abort();
      return answer;
    };
    const pauses: number[] = [];
    const pace: Pace = {
      ...hurry,
      async pause(milliseconds, signal) {
        pauses.push(milliseconds);
        await hurry.pause(milliseconds, signal);
      },
    };
    let startedOver = 0;
    const failures: string[] = [];
    const client = { fetch, baseUrl: "http://consul.test" };
    await followConsul(client, "/v1/catalog/services", { pace, waitMs: 60_000 }, stop.signal, {
      changed() {
        consul.index = index;
      },
      startedOver() {
        startedOver += 1;
      },
      failed: (reason) => failures.push(reason),
    });
    expect(asked).toEqual(want);
    expect(Math.min(...pauses)).toBe(1000);
    expect([startedOver, failures]).toEqual([1, []]);
  });
});
