import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { stateOf } from "../../../lib/front/heads/head-state.ts";
import { createHeads } from "../../../lib/front/heads/heads.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

const world = (content: string) => worldOf({ web: { clusters: { a: content } } });

describe("polls that are held", () => {
  it("are as many as there is room for; whoever comes then is answered at once", async () => {
    const test = testFront({ maxHoldMs: 60_000, limits: { ...limits, heldBytes: 12 * 1024 } });
    await test.publish(world("1"));
    const version: string = JSON.parse(
      await (await test.poll("clusters", pollBody("clusters", nodeOf("web")))).text(),
    ).version_info;
    const answered: number[] = [];
    const ask = () =>
      test
        .poll("clusters", pollBody("clusters", nodeOf("web"), { version }), {
          "x-envoy-expected-rq-timeout-ms": "65000",
        })
        .then(({ status }) => answered.push(status));
    const polls = Array.from({ length: 4 }, ask);
    await sleep(100);
    expect(answered).toEqual([304, 304]);
    await test.publish(world("2"));
    await Promise.all(polls);
    expect(answered).toEqual([304, 304, 200, 200]);
  });

  it("are woken some at a time, so that what others ask is answered in between", async () => {
    const store = memoryStore();
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
    const publish = async (content: string) => void (await publisher.publish(world(content), await publisher.head()));
    await publish("1");
    const heads = createHeads(store, { ttlMs: 60_000, now: Date.now, onError: () => {} });
    const head = await heads.current();
    if (head === undefined) throw new Error("nothing was published");
    const state = stateOf(head, heads.timeMs());
    let woken = 0;
    const waiting = Array.from({ length: 1_000 }, () =>
      heads.waitForChange(state, 60_000).then(() => {
        woken += 1;
      }),
    );
    await publish("2");
    const turns: number[] = [];
    for (let before = 0; woken < waiting.length; before = woken) {
      await setImmediate();
      turns.push(woken - before);
    }
    expect(Math.max(...turns)).toBeLessThanOrEqual(400);
    expect(turns.filter((count) => count > 0).length).toBeGreaterThanOrEqual(3);
    await Promise.all(waiting);
    heads.close();
  });
});
