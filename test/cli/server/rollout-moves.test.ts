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
    const word = async (why: string) => ({ by: "ann", why, seen: (await shop.head()).generation });
    const { head } = await moves.move({ kind: "rollback", to }, await word("too many errors"));
    expect(head.pin).toMatchObject({
      by: "ann",
      why: "too many errors",
      configuration: { sources: [{ name: "main" }] },
    });
    expect(await shop.served()).toBe("1s 10.0.0.2");
    await shop.publish("3s 10.0.0.3");
    await moves.move({ kind: "unpin" }, await word("mended"));
    expect(await shop.served()).toBe("3s 10.0.0.3");
    await shop.publish("4s 10.0.0.4", { share: { percent: 10, labels: {} } });
    await moves.move({ kind: "abort" }, await word("no better"));
    await shop.publish("4s 10.0.0.5");
    expect(await shop.served()).toBe("3s 10.0.0.5");
  });

  it("are refused where HEAD is not the one that was seen, also when it moves while the rollback compiles", async () => {
    const store = memoryStore();
    const shop = openShop(store);
    await shop.publish("1s 10.0.0.1");
    const to = lastRoot((await shop.head()).steps);
    await shop.publish("2s 10.0.0.2");
    const { generation: seen } = await shop.head();
    let isBetween = true;
    const moves = rolloutMoves(
      {
        ...store,
        async put(key, bytes, condition) {
          if (key === "HEAD" && isBetween) {
            isBetween = false;
            await shop.publish("3s 10.0.0.3");
          }
          return store.put(key, bytes, condition);
        },
      },
      { pace: noPause },
    );
    const rolledBack = moves.move({ kind: "rollback", to }, { by: "ann", why: "too many errors", seen });
    await expect(rolledBack).rejects.toThrow(`HEAD has moved on to generation ${seen + 1} since you looked`);
    expect(await shop.served()).toBe("3s 10.0.0.3");
    for (const wrong of [seen, seen + 2]) {
      const moved = moves.move({ kind: "rollback", to }, { by: "ann", why: "x", seen: wrong });
      await expect(moved).rejects.toThrow(`generation ${seen + 1} since you looked`);
    }
    expect((await shop.head()).generation).toBe(seen + 1);
  });
});
