import { describe, expect, it } from "vitest";
import { createReportedNacks } from "../../../lib/front/ads/reported-nacks.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { heldBytes } from "../../collect-garbage.ts";
import { testFront } from "../fixtures.ts";

describe("what nodes say that they do not take", () => {
  it("takes no more memory than is kept of it, however much they say", async () => {
    const said = createReportedNacks(testFront().front.reader, Date.now, () => {}, limits);
    const before = heldBytes();
    for (let i = 0; i < 100; i += 1) {
      const answer = { kept: undefined, version: "v2", classId: "web", root: "r" };
      const { words }: { readonly words: string } = JSON.parse(`{"words":"${"x".repeat(1_000_000)}"}`);
      said.refused({ nodeId: `web-${i}`, type: "secrets" }, { answer, names: [], error: words });
    }
    expect(heldBytes() - before).toBeLessThan(20_000_000);
    const [last] = await said.explained();
    expect(last?.error).toBe("x".repeat(2_000));
  });
});
