import { describe, expect, it } from "vitest";
import { createFetchQueue, FetchAlreadyWaiting } from "../../../../lib/compile/webhook/repository/fetch-queue.ts";
import type { PushEvent } from "../../../../lib/compile/webhook/repository/push-event.ts";

const sha = (n: number) => n.toString(16).padStart(40, "0");
const push = (n: number): PushEvent => ({
  repository: "shop/mesh",
  ref: "refs/heads/main",
  before: sha(n),
  after: sha(n + 1),
  pusher: "ada",
});

/** A queue whose fetches end when they are told to. */
function watched(places: number) {
  const queue = createFetchQueue(places);
  const underWay = new Map<string, () => void>();
  const log: string[] = [];
  const enter = (source: string, n: number) =>
    queue(source, `delivery ${n}`, [push(n)], async (events) => {
      const ended = Promise.withResolvers<void>();
      underWay.set(source, ended.resolve);
      log.push(`${source} ${events.map(({ after }) => Number.parseInt(after, 16)).join("+")}`);
      await ended.promise;
      return events.length;
    });
  const end = async (source: string) => {
    underWay.get(source)?.();
    await settled();
  };
  return { enter, end, log };
}

/** Everything that needs no event from outside has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("the queue of fetches", () => {
  it("has one fetch of a source under way and one waiting, which is given all later pushes", async () => {
    const { enter, end, log } = watched(4);
    const first = enter("a", 1);
    await settled();
    const second = enter("a", 2);
    for (const n of [3, 4]) await expect(enter("a", n)).rejects.toBeInstanceOf(FetchAlreadyWaiting);
    expect(log).toEqual(["a 2"]);
    await end("a");
    expect(log).toEqual(["a 2", "a 3+4+5"]);
    // It has begun: it may have looked before the next push.
    const third = enter("a", 5);
    await end("a");
    await end("a");
    expect(log.at(-1)).toBe("a 6");
    expect(await Promise.all([first, second, third])).toEqual([1, 3, 1]);
  });

  it("gives one source one place, and the places in turn", async () => {
    const { enter, end, log } = watched(2);
    const all = [];
    for (const source of ["a", "b", "c", "d"]) all.push(enter(source, 1));
    await settled();
    all.push(enter("a", 2), enter("b", 2));
    await settled();
    expect(log).toEqual(["a 2", "b 2"]);
    for (const source of ["a", "c", "b", "d", "a", "b"]) await end(source);
    expect(log).toEqual(["a 2", "b 2", "c 2", "d 2", "a 3", "b 3"]);
    await end("a");
    await end("b");
    await Promise.all(all);
  });

  it("goes on after a fetch that fails", async () => {
    const queue = createFetchQueue(1);
    const failed = queue("a", "d1", [push(1)], () => Promise.reject(new Error("no host")));
    await expect(failed).rejects.toThrow("no host");
    expect(await queue("a", "d2", [push(2)], async () => "fetched")).toBe("fetched");
  });

  it("remembers no more than sixteen pushes, the newest", async () => {
    const { enter, end, log } = watched(1);
    const holder = enter("b", 1);
    await settled();
    const waits = enter("a", 0);
    for (let n = 1; n <= 40; n += 1) await enter("a", n).catch(() => {});
    await end("b");
    expect(log[1]?.split("+").length).toBe(16);
    expect(log[1]).toMatch(/\+41$/);
    await end("a");
    await Promise.all([holder, waits]);
  });
});
