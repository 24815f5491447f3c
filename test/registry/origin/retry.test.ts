import { expect, it } from "vitest";
import { defaultPace } from "../../../lib/registry/origin/retry.ts";

it("waits twice as long after each failure in a row up to half a minute, less a random half at most", () => {
  const longest = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
  for (let round = 0; round < 50; round += 1) {
    for (const [at, most] of longest.entries()) {
      const wait = defaultPace.backOff(at + 1);
      expect(wait).toBeGreaterThanOrEqual(most / 2);
      expect(wait).toBeLessThanOrEqual(most);
    }
  }
  expect(new Set(Array.from({ length: 20 }, () => defaultPace.backOff(3))).size).toBeGreaterThan(1);
});

it("waits no longer once the signal says stop", async () => {
  const stop = new AbortController();
  const waiting = defaultPace.pause(1_000_000, stop.signal);
  stop.abort();
  await waiting;
  await defaultPace.pause(1_000_000, stop.signal);
});
