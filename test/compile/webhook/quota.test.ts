import { describe, expect, it } from "vitest";
import { createQuota } from "../../../lib/compile/webhook/quota.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

function place(maxBytes: number) {
  const store = memoryStore();
  const time = { nowMs: 0 };
  let lists = 0;
  const counting: typeof store = {
    ...store,
    list(prefix, after) {
      lists += 1;
      return store.list(prefix, after);
    },
  };
  const put = (key: string, length: number) => store.put(key, new Uint8Array(length));
  return { put, store, time, lists: () => lists, quota: createQuota(counting, () => time.nowMs, maxBytes) };
}

describe("the quota of a source", () => {
  it("counts what lies there, and what is written since", async () => {
    const { put, quota, lists } = place(100_000);
    await put("sources/b/files/x", 50_000);
    await put("sources/bb/files/x", 90_000);
    expect(await quota("b", 30_000)).toBeUndefined();
    expect(await quota("b", 30_000)).toContain("portolan gc");
    expect(await quota("c", 30_000)).toBeUndefined();
    expect(lists()).toBe(2);
  });

  it("counts small objects as what they take on a disk", async () => {
    const { put, quota } = place(4_096 * 10);
    for (let i = 0; i < 8; i += 1) await put(`sources/b/files/${i}`, 1);
    expect(await quota("b", 1)).toBeUndefined();
    expect(await quota("b", 1)).toBeUndefined();
    expect(await quota("b", 1)).toContain("may have 40960");
  });

  it("looks again, so that what was collected makes room", async () => {
    const { put, quota, store, time } = place(100_000);
    await put("sources/b/files/x", 90_000);
    expect(await quota("b", 30_000)).toBeDefined();
    await store.delete("sources/b/files/x");
    expect(await quota("b", 30_000)).toBeDefined();
    time.nowMs += 11_000;
    expect(await quota("b", 30_000)).toBeUndefined();
    await put("sources/b/files/y", 90_000);
    time.nowMs += 301_000;
    expect(await quota("b", 30_000)).toBeDefined();
  });

  it("counts once for writes that come together", async () => {
    const { quota, lists } = place(100_000);
    const answers = await Promise.all(Array.from({ length: 20 }, () => quota("b", 10_000)));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(10);
    expect(lists()).toBe(1);
  });

  it("is asked again where the store did not answer", async () => {
    const { store } = place(1);
    let isDown = true;
    const failing: typeof store = {
      ...store,
      list(prefix) {
        if (isDown) throw new Error("no answer");
        return store.list(prefix);
      },
    };
    const quota = createQuota(failing, () => 0);
    await expect(quota("b", 1)).rejects.toThrow("no answer");
    isDown = false;
    await expect(quota("b", 1)).resolves.toBeUndefined();
  });
});
