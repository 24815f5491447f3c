import { describe, expect, it } from "vitest";
import { rolloutMoves } from "../../../lib/cli/server/rollout-moves.ts";
import { lastRoot } from "../../../lib/snapshot/head/head.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { noPause, openShop } from "../../compile/planes/shop.ts";

describe("moves of HEAD through a front", () => {
  it("roll back to configuration with the newest endpoints, and lead on to what was published meanwhile", async () => {
    const shop = openShop(memoryStore());
    const moves = rolloutMoves(shop.store, { pace: noPause });
    await shop.publish("1s 10.0.0.1");
    const to = lastRoot((await shop.head()).steps);
    await shop.publish("2s 10.0.0.2");
    const { head } = await moves.move({ kind: "rollback", to }, { by: "ann", why: "too many errors" });
    expect(head.pin).toMatchObject({
      by: "ann",
      why: "too many errors",
      configuration: { sources: [{ name: "main" }] },
    });
    expect(await shop.served()).toBe("1s 10.0.0.2");
    await shop.publish("3s 10.0.0.3");
    await moves.move({ kind: "unpin" }, { by: "ann", why: "mended" });
    expect(await shop.served()).toBe("3s 10.0.0.3");
    await shop.publish("4s 10.0.0.4", { share: { percent: 10, labels: {} } });
    await moves.move({ kind: "abort" }, { by: "ann", why: "no better" });
    await shop.publish("4s 10.0.0.5");
    expect(await shop.served()).toBe("3s 10.0.0.5");
  });
});
