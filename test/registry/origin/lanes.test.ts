import { describe, expect, it } from "vitest";
import { createLanes } from "../../../lib/registry/origin/lanes.ts";

const { signal: never } = new AbortController();
const soon = () => new Promise((resolve) => setImmediate(resolve));

/** Work that lasts until somebody ends it. */
function held(log: string[], name: string) {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    end,
    work: async () => {
      log.push(name);
      await ended;
    },
  };
}

describe("lanes", () => {
  it("are so many at once, in the order in which they were asked for, and end with the work that fails", async () => {
    const lanes = createLanes(2);
    const log: string[] = [];
    const [a, b, c] = [held(log, "a"), held(log, "b"), held(log, "c")];
    const running = [lanes.run(a.work, never), lanes.run(b.work, never)];
    const failing = lanes.run(() => Promise.reject(new Error("no")), never);
    running.push(lanes.run(c.work, never));
    await soon();
    expect(log).toEqual(["a", "b"]);
    b.end();
    await expect(failing).rejects.toThrow("no");
    await soon();
    expect(log).toEqual(["a", "b", "c"]);
    a.end();
    c.end();
    await Promise.all(running);
  });

  it("are not waited for when there is nothing to do any more, and none is lost by that", async () => {
    const lanes = createLanes(1);
    const log: string[] = [];
    const stop = new AbortController();
    const a = held(log, "a");
    const running = lanes.run(a.work, never);
    const stopped = lanes.run(async () => void log.push("stopped"), stop.signal);
    stop.abort();
    await stopped;
    const [b, c] = [held(log, "b"), held(log, "c")];
    const later = [lanes.run(b.work, never), lanes.run(c.work, never)];
    await soon();
    expect(log).toEqual(["a", "stopped"]);
    a.end();
    await soon();
    await soon();
    expect(log).toEqual(["a", "stopped", "b"]);
    b.end();
    c.end();
    await Promise.all([running, ...later]);
    expect(log).toEqual(["a", "stopped", "b", "c"]);
  });

  it("are given to what others wait for before everything else that waits", async () => {
    const lanes = createLanes(1);
    const log: string[] = [];
    const [a, b, c] = [held(log, "a"), held(log, "b"), held(log, "c")];
    const running = [lanes.run(a.work, never), lanes.run(b.work, never), lanes.run(c.work, never, true)];
    for (const { end } of [a, b, c]) end();
    await Promise.all(running);
    expect(log).toEqual(["a", "c", "b"]);
  });
});
