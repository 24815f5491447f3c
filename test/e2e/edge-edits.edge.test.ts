/** Edits under traffic, from a signed push to a real Envoy that polls through what stands before Workers and Lambda functions. */
import { describe, expect, it } from "vitest";
import { editOverEdge, openEdgeShop } from "./edge-edits.ts";
import { lambdaEdge, type PublicEdge, workerdEdge } from "./edges.ts";

const edits = 8;
const pollDelayMs = 200;
const POLL_DELAY_MS = String(pollDelayMs);

describe.each<readonly [string, boolean, () => Promise<PublicEdge>]>([
  ["workerd and R2, with long polls", true, () => workerdEdge({ POLL_DELAY_MS })],
  ["workerd and R2, answered at once", false, () => workerdEdge({ POLL_DELAY_MS }, { MAX_HOLD_MS: "0" })],
  ["Lambda's bundles and S3, answered at once", false, () => lambdaEdge({ PORTOLAN_POLL_DELAY_MS: POLL_DELAY_MS })],
])("over %s", (_name, holds, open) => {
  it("every edit comes into force, and no request fails", async () => {
    const opened = await openEdgeShop(open, { pollDelayMs });
    try {
      expect(opened.edge.holds ?? false).toBe(holds);
      const { edits: made, failures, refused, requests } = await editOverEdge(opened, edits);
      expect(failures).toEqual(new Map());
      expect(refused).toEqual([]);
      expect(made).toHaveLength(edits);
      expect(requests).toBeGreaterThan(100);
    } finally {
      await opened.close();
    }
  }, 180_000);
});
