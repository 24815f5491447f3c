import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRateLimiter } from "../../functions/rate-limit.ts";

const request = new Request("https://front.example/v3/head", { headers: { "cf-connecting-ip": "192.0.2.1" } });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function limiter() {
  const lines: string[] = [];
  const clock = { ms: 0 };
  const { turnedAway } = createRateLimiter(
    (line) => lines.push(line),
    () => clock.ms,
  );
  return { lines, clock, turnedAway };
}

describe("a rate limit", () => {
  it("turns away who asks too often, by address, and nobody else", async () => {
    const { turnedAway } = limiter();
    const keys: string[] = [];
    const limit = async ({ key }: { readonly key: string }) => {
      keys.push(key);
      return { success: keys.length < 2 };
    };
    expect(await turnedAway(request, { limit })).toBeUndefined();
    expect((await turnedAway(request, { limit }))?.status).toBe(429);
    expect(keys).toEqual(["192.0.2.1", "192.0.2.1"]);
    expect(await turnedAway(request, undefined)).toBeUndefined();
  });

  it.each([
    ["throws", () => Promise.reject(new Error("internal error"))],
    [
      "throws at once",
      () => {
        throw new Error("internal error");
      },
    ],
  ])("that %s lets requests in, and says so once a minute with their number", async (_what, limit) => {
    const { turnedAway, lines, clock } = limiter();
    for (let i = 0; i < 5; i += 1) expect(await turnedAway(request, { limit })).toBeUndefined();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { event: expect.stringContaining("without being counted"), requests: 1, reason: "Error: internal error" },
    ]);
    clock.ms = 60_000;
    await turnedAway(request, { limit });
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ requests: 5 });
  });

  it("that never answers lets requests in", async () => {
    const { turnedAway, lines } = limiter();
    const answer = turnedAway(request, { limit: () => new Promise(() => {}) });
    await vi.advanceTimersByTimeAsync(500);
    expect(await answer).toBeUndefined();
    expect(lines).toHaveLength(1);
  });
});
