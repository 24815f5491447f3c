import { describe, expect, it } from "vitest";
import { soakSeed } from "../soak-options.ts";
import { acts } from "./acts.ts";
import { tryFaults } from "./faults.ts";

/** Every act once. `npm run faults` goes on for hundreds of rounds. */
const rounds = Object.keys(acts).length;

describe.each(["files", "S3"] as const)("a store of %s that is broken while others publish", (place) => {
  it("loses nothing that was acknowledged, undoes no rollback, and has whole roots only", async () => {
    const [report] = await tryFaults({ rounds, seed: soakSeed(3), places: [place] });
    expect(report?.violations).toEqual([]);
    expect(report?.acknowledged).toBeGreaterThan(rounds);
    expect(Object.values(report?.acts ?? {}).filter(({ done }) => done === 0)).toEqual([]);
    expect(report?.polls.answered).toBeGreaterThan(rounds / 2);
  }, 300_000);
});
