import { describe, expect, it } from "vitest";
import { freshMs, graceMs, rememberDataKeys, retryMs } from "../../lib/secrets/data-key-cache.ts";
import type { Unwrapped, WrappingKey } from "../../lib/secrets/key-wrapper.ts";

const shop = { namespace: "bookshop", name: "shop-cert" };
const opened: Unwrapped = { kind: "opened", dataKey: new Uint8Array(32) };
const silence: Unwrapped = { kind: "unavailable", reason: "silence" };
const refusal: Unwrapped = { kind: "refused", reason: "no" };

function cache() {
  const warnings: string[] = [];
  const world = { says: opened, asked: 0, nowMs: 0, warnings };
  const service: WrappingKey = {
    wrap: async () => ({ id: "key", wrapped: "" }),
    async unwrap() {
      world.asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
      return world.says;
    },
  };
  const key = rememberDataKeys(service, { now: () => world.nowMs, onWarning: (text) => warnings.push(text) });
  return { world, ask: (wrapped = "a", secret = shop) => key.unwrap({ id: "key", wrapped }, secret) };
}

describe("remembered data keys", () => {
  it("are asked for once, however many want one at a time, and again after minutes", async () => {
    const { world, ask } = cache();
    expect(await Promise.all(Array.from({ length: 50 }, () => ask()))).toEqual(
      Array.from({ length: 50 }, () => opened),
    );
    world.nowMs = freshMs - 1;
    await ask();
    expect(world.asked).toBe(1);
    world.nowMs = freshMs;
    await ask();
    expect(world.asked).toBe(2);
  });

  it("are asked for again after minutes, although the clock was set back by a day: a key that is denied counts no more", async () => {
    const { world, ask } = cache();
    await ask();
    world.says = refusal;
    world.nowMs -= 86_400_000;
    expect(await ask()).toBe(opened);
    world.nowMs += freshMs;
    expect(await ask()).toBe(refusal);
  });

  it("are remembered for one secret and no other", async () => {
    const { world, ask } = cache();
    await ask();
    world.says = refusal;
    expect(await ask("a", { ...shop, namespace: "evil" })).toBe(refusal);
  });

  it("outlast silence for hours, with a word about it each minute, and no refusal", async () => {
    const { world, ask } = cache();
    await ask();
    world.says = silence;
    for (world.nowMs = freshMs; world.nowMs < freshMs + 120_000; world.nowMs += retryMs) {
      expect(await ask()).toBe(opened);
    }
    expect(world.asked).toBe(1 + 120_000 / retryMs);
    expect(world.warnings).toEqual([
      "silence; secrets that were opened before are used until 1970-01-01T12:00:00.000Z",
      "silence; secrets that were opened before are used until 1970-01-01T12:00:00.000Z",
    ]);
    world.nowMs = graceMs;
    expect(await ask()).toBe(silence);

    world.says = opened;
    world.nowMs += retryMs;
    expect(await ask()).toBe(opened);
    world.says = refusal;
    world.nowMs += freshMs;
    expect(await ask()).toBe(refusal);
    world.says = silence;
    world.nowMs += retryMs;
    expect(await ask()).toBe(silence);
  });

  it("are a thousand at most: the one that was opened longest ago goes first", async () => {
    const { world, ask } = cache();
    for (let number = 0; number <= 1_000; number += 1) await ask(String(number));
    world.says = refusal;
    expect(await ask("1")).toBe(opened);
    expect(await ask("0")).toBe(refusal);
  });
});
