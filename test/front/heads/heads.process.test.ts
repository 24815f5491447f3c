import { describe, expect, it } from "vitest";
import { createHeads } from "../../../lib/front/heads/heads.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { signHead } from "../../../lib/snapshot/head/signatures.ts";
import { makeSigningKey, publicPart, type SigningJwk } from "../../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import type { Head } from "../../../lib/snapshot/root.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

const pace = { settleMs: 6_000, retentionMs: 10_000 };
const mesh = (service: string) =>
  worldOf({ web: { clusters: { [service]: "1" }, listeners: { l: "1" }, routes: { "80": service } } });
const tick = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A front whose clock is wrong on a store whose clock is right, and a publisher whose clock may be either. */
async function clocks(frontAheadMs: number, change: (store: ObjectStore) => ObjectStore = (store) => store) {
  let nowMs = Date.UTC(2026, 0, 1);
  const store = memoryStore(() => nowMs);
  const now = () => nowMs + frontAheadMs;
  const test = testFront({ store: change(store), now });
  const publish = async (service: string, aheadMs = 0) => {
    const publisher = createPublisher(store, { pace, now: () => nowMs + aheadMs });
    await publisher.publish(mesh(service), await publisher.head());
  };
  const routes = async () => {
    const response = await test.poll("routes", pollBody("routes", nodeOf("web"), { names: ["80"] }));
    return /"content":"(\w+)"/.exec(await response.text())?.[1];
  };
  return {
    publish,
    routes,
    request: test.request,
    later: (ms: number) => {
      nowMs += ms;
    },
  };
}

const withoutClock = ({ time: _time, watch: _watch, ...store }: ObjectStore): ObjectStore => store;

describe.each([20_000, -20_000, 3_600_000])("a front whose clock is %i ms ahead", (aheadMs) => {
  it.each([
    ["shows its clock", (store: ObjectStore) => store],
    ["shows no clock", withoutClock],
  ])("serves each step in its time where the store %s", async (_what, change) => {
    const { publish, routes, later } = await clocks(aheadMs, change);
    await publish("a");
    expect(await routes()).toBe("a");
    later(60_000);
    expect(await routes()).toBe("a");
    await publish("b");
    expect(await routes()).toBe("a");
    later(5_000);
    expect(await routes()).toBe("a");
    later(10_000);
    expect(await routes()).toBe("b");
  });

  it("says so", async () => {
    const { publish, request } = await clocks(aheadMs);
    await publish("a");
    expect(JSON.parse(await (await request("/healthz")).text()).warnings).toEqual([
      `this clock is ${Math.abs(aheadMs) / 1_000} s ${aheadMs > 0 ? "ahead of" : "behind"} the store's`,
    ]);
  });

  it("serves the step in force when it has just started, if the store shows its clock", async () => {
    const { publish, routes, later } = await clocks(aheadMs);
    await publish("a");
    later(60_000);
    await publish("b");
    later(3_000);
    expect(await routes()).toBe("a");
  });
});

describe("a front whose clock is right", () => {
  it("says nothing of clocks and ages", async () => {
    const { publish, request } = await clocks(0);
    await publish("a");
    expect(Object.keys(JSON.parse(await (await request("/healthz")).text()))).toEqual(["generation", "publication"]);
  });

  it("serves the last step at once when it starts long after it", async () => {
    const { publish, routes, later } = await clocks(0);
    await publish("a");
    await publish("b");
    later(3_600_000);
    expect(await routes()).toBe("b");
  });
});

/** A store that answers or not. */
function silentStore() {
  const store = memoryStore();
  let isSilent = false;
  const { watch: _watch, ...polled } = store;
  const heard = async <T>(answer: () => Promise<T>): Promise<T> => {
    while (isSilent) await tick(20);
    return answer();
  };
  return {
    store,
    behind: { ...polled, get: (key: string, condition = {}) => heard(() => store.get(key, condition)) },
    silence: (silent: boolean) => {
      isSilent = silent;
    },
  };
}

describe("a store that falls silent", () => {
  it("keeps nobody waiting for more than 2 s, and then nobody at all; is heard again at once; and its age is told", async () => {
    const { store, behind, silence } = silentStore();
    const test = testFront({ store: behind });
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
    await publisher.publish(mesh("a"), await publisher.head());
    const ask = async () => {
      const startMs = performance.now();
      const response = await test.poll("clusters", pollBody("clusters", nodeOf("web")));
      const content = /"name":"(\w+)"/.exec(await response.text())?.[1];
      return [content, Math.round((performance.now() - startMs) / 500) / 2];
    };
    expect(await ask()).toEqual(["a", 0]);
    silence(true);
    expect(await Promise.all([ask(), ask()])).toEqual([
      ["a", 2],
      ["a", 2],
    ]);
    expect(await ask()).toEqual(["a", 0]);
    const health = await (await test.request("/healthz")).json();
    expect(health).toMatchObject({
      generation: 1,
      headAgeMs: expect.any(Number),
      warnings: [expect.stringMatching(/^HEAD was not confirmed for \d+ s$/)],
    });
    await publisher.publish(mesh("b"), await publisher.head());
    silence(false);
    await tick(100);
    await ask();
    expect(await ask()).toEqual(["b", 0]);
    expect(await (await test.request("/healthz")).json()).not.toHaveProperty("headAgeMs");
  }, 20_000);

  it("does not make a front that has never seen HEAD wait for ever", async () => {
    const { behind, silence } = silentStore();
    silence(true);
    const test = testFront({ store: behind });
    const response = await test.poll("clusters", pollBody("clusters", nodeOf("web")));
    expect(response.status).toBe(503);
    silence(false);
  }, 10_000);
});

describe("HEAD as a front has seen it", () => {
  it("is still served when it is gone from the store, or is rubbish", async () => {
    const errors: unknown[] = [];
    const test = testFront({ onError: (cause) => errors.push(cause) });
    await test.publish(mesh("a"));
    expect((await test.poll("clusters", pollBody("clusters", nodeOf("web")))).status).toBe(200);
    await test.store.put("HEAD", new TextEncoder().encode("rubbish"));
    expect((await test.poll("clusters", pollBody("clusters", nodeOf("web")))).status).toBe(200);
    await test.store.delete("HEAD");
    expect((await test.poll("clusters", pollBody("clusters", nodeOf("web")))).status).toBe(200);
    expect(errors.map(String)).toEqual([
      expect.stringContaining("HEAD cannot be read"),
      expect.stringContaining("HEAD is gone"),
    ]);
  });

  it("is not replaced by an older one whose answer was slow", async () => {
    const store = memoryStore();
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
    await publisher.publish(mesh("a"), await publisher.head());
    let delayMs = 0;
    const { watch: _watch, ...polled } = store;
    const slow: ObjectStore = {
      ...polled,
      async get(key, condition) {
        const result = await store.get(key, condition);
        await tick(delayMs);
        return result;
      },
    };
    const heads = createHeads(slow, { ttlMs: 0, now: Date.now, onError: () => {} });
    await heads.current();
    delayMs = 4_000;
    const first = heads.current();
    await tick(3_200);
    delayMs = 0;
    await publisher.publish(mesh("b"), await publisher.head());
    await heads.current();
    await tick(50);
    expect((await heads.current())?.generation).toBe(2);
    await first;
    await tick(1_000);
    delayMs = 500;
    void heads.current();
    await tick(0);
    expect((await heads.current())?.generation).toBe(2);
    heads.close();
  }, 20_000);
});

describe("a HEAD that is not believed", () => {
  it.each([
    ["garbage", async () => "{}", "HEAD cannot be read"],
    ["unsigned", async (head: Head) => JSON.stringify({ ...head, signatures: undefined }), "signed with none"],
    ["older", async (head: Head, key: SigningJwk) => older(head, key), "HEAD went back from generation 2 to 1"],
  ])("is told of as long as it is there, although it is %s and read again with every look", async (_what, bad, why) => {
    const key = await makeSigningKey("roots");
    const store = memoryStore();
    const test = testFront({ store, trusted: [publicPart(key)] });
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 }, signer: key });
    for (const service of ["a", "b"]) await publisher.publish(mesh(service), await publisher.head());
    const health = async () => JSON.parse(await (await test.request("/healthz")).text());
    expect(Object.keys(await health())).toEqual(["generation", "publication"]);
    const read = await readHead(store);
    if (read === undefined) throw new Error("no HEAD");
    await store.put("HEAD", new TextEncoder().encode(await bad(read.head, key)));
    for (let call = 0; call < 3; call += 1) {
      const { generation, headAgeMs, warnings } = await health();
      expect([generation, typeof headAgeMs, warnings.length]).toEqual([2, "number", 1]);
      expect(warnings[0]).toMatch(/^HEAD was not confirmed for \d+ s; last refusal: /);
      expect(warnings[0]).toContain(why);
    }
    await store.put("HEAD", new TextEncoder().encode(JSON.stringify(read.head)));
    expect(Object.keys(await health())).toEqual(["generation", "publication"]);
  });

  it("is not mistaken for a store that fails, of which no more is told to everybody", async () => {
    const store = memoryStore();
    let fails = false;
    const get: ObjectStore["get"] = async (...asked) => {
      if (fails) throw new Error("bucket secret-name is out");
      return store.get(...asked);
    };
    const test = testFront({ store: { ...store, get } });
    await test.publish(mesh("a"));
    await test.request("/healthz");
    fails = true;
    const health = async () => JSON.parse(await (await test.request("/healthz")).text());
    await health();
    expect((await health()).warnings).toEqual(["HEAD was not confirmed for 0 s; the store cannot be read"]);
  });
});

/** The HEAD of the generation before, signed with the right key. */
async function older({ signatures: _signatures, ...head }: Head, key: SigningJwk): Promise<string> {
  return JSON.stringify(await signHead(key, { ...head, generation: head.generation - 1 }));
}
