import { describe, expect, it } from "vitest";
import { forwardClock } from "../../lib/base/forward-clock.ts";

describe("a clock of ages", () => {
  it("goes with the wall clock, and on where that is set back", () => {
    let nowMs = 1_000_000;
    const agedMs = forwardClock(() => nowMs);
    nowMs += 5_000;
    expect(agedMs()).toBe(1_005_000);
    nowMs -= 86_400_000;
    const atStepMs = agedMs();
    expect(atStepMs).toBeGreaterThanOrEqual(1_005_000);
    nowMs += 10_000;
    expect(agedMs()).toBe(atStepMs + 10_000);
  });
});
