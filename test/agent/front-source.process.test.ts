import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { createFrontClient } from "../../lib/agent/source/front-client.ts";
import { frontSource } from "../../lib/agent/source/front-source.ts";
import { heldTypes, type WholeHoldings } from "../../lib/agent/source/resources.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import type { Refusal } from "../../lib/front/nodes/refusals.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { coreTypes, type ResourceType, typeUrlOf } from "../../lib/snapshot/resource-type.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { nodeOf } from "../front/fixtures.ts";
import { type ShapeContents, worldOf } from "../snapshot/worlds.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A front that forgets when it is told to, and an agent's source that follows it; `asked` are the agent's requests about clusters. */
async function following() {
  const store = memoryStore();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  const publish = async (clusters: Readonly<Record<string, string>>) =>
    publisher.publish(worldOf({ web: { clusters } }), await publisher.head());
  const publishAll = async (web: ShapeContents) => publisher.publish(worldOf({ web }), await publisher.head());
  const refusals: Refusal[] = [];
  const asked: Record<string, unknown>[] = [];
  const front = createFront({ store, headTtlMs: 0, maxHoldMs: 60_000, onRefusal: (one) => refusals.push(one) });
  const server = await serveHttp(frontApp(front), 0);
  const client = createFrontClient({ url: server.url });
  let isForgetful = false;
  /** Answers to requests that were held about a type come when it is let go. */
  let isSlow: { readonly type: ResourceType; readonly until: Promise<void> } | undefined;
  const source = frontSource({
    node: nodeOf("web"),
    holdMs: 20_000,
    types: heldTypes(false),
    client: {
      ...client,
      async ask(request) {
        const message = JSON.parse(String(request.body ?? "{}"));
        const isHeld = (request.holdMs ?? 0) > 0;
        if (isHeld && isSlow !== undefined && message.type_url === typeUrlOf(isSlow.type)) {
          const late = await client.ask(request);
          await isSlow.until;
          return late;
        }
        if (message.type_url !== typeUrlOf("clusters")) return client.ask(request);
        asked.push(message);
        const isLost = isForgetful && message.initial_resource_versions === undefined && message.response_nonce;
        const body = isLost ? { ...message, response_nonce: `gone.${"0".repeat(64)}` } : message;
        return client.ask({ ...request, body: JSON.stringify(body) });
      },
    },
  });
  ends.push(
    () => source.close(),
    () => front.close(),
    () => server.close(),
  );
  const told: WholeHoldings[] = [];
  const troubles: string[] = [];
  const start = () =>
    source.start({
      changed: (holdings) => told.push(holdings),
      trouble: (why) => troubles.push(why),
      reached() {},
    });
  const clustersTold = () => told.map(({ clusters }) => [...clusters.resources.keys()]);
  return {
    publish,
    publishAll,
    slow: (type: ResourceType, until: Promise<void>) => {
      isSlow = { type, until };
    },
    start,
    source,
    told,
    troubles,
    asked,
    refusals,
    clustersTold,
    forget: () => {
      isForgetful = true;
    },
  };
}

describe("an agent's source that follows a front", () => {
  it("says which version it holds and lists nothing, and lists what it has to a front that has forgotten it", async () => {
    const test = await following();
    await test.publish({ a: "1", b: "1", c: "1" });
    test.start();
    await expect.poll(test.clustersTold).toEqual([["a", "b", "c"]]);
    await expect.poll(() => test.asked.length).toBe(2);
    await test.publish({ a: "1", b: "2" });
    await expect.poll(test.clustersTold).toEqual([
      ["a", "b", "c"],
      ["a", "b"],
    ]);
    const listed = () => test.asked.filter((message) => message.initial_resource_versions !== undefined).length;
    expect(listed()).toBe(0);
    test.forget();
    await expect.poll(listed, { timeout: 10_000 }).toBe(0);
    await test.publish({ b: "2", d: "1" });
    await expect.poll(() => test.clustersTold().at(-1)).toEqual(["b", "d"]);
    await test.publish({ b: "2" });
    await expect.poll(() => test.clustersTold().at(-1), { timeout: 10_000 }).toEqual(["b"]);
    expect([listed() > 0, test.troubles]).toEqual([true, []]);
  });

  it("says nothing of what Envoy refused of the version before, so that a mended one is not called refused", async () => {
    const test = await following();
    await test.publish({ a: "bad" });
    test.start();
    await expect.poll(() => test.told.length).toBe(1);
    const version = test.told[0]?.clusters.version ?? "";
    test.source.rejects("clusters", { version, names: ["a"], words: "a is bad" });
    await expect.poll(() => test.refusals.map(({ refused }) => refused)).toEqual([version]);
    await test.publish({ a: "good" });
    await expect.poll(() => test.told.length).toBe(2);
    // The next request is under way before Envoy has said a word of the new version.
    await expect.poll(() => test.asked.at(-1)).toMatchObject({ response_nonce: expect.not.stringContaining(version) });
    expect(test.asked.at(-1)).not.toHaveProperty("error_detail");
    test.source.rejects("clusters", undefined);
    await test.publish({ a: "better" });
    await expect.poll(() => test.told.length).toBe(3);
    expect(test.refusals).toHaveLength(1);
  });

  it("asks nothing more when it is closed while it waits for Envoy's word", async () => {
    const test = await following();
    const all = (text: string) => ({
      clusters: { a: text },
      endpoints: { a: text },
      listeners: { a: text },
      routes: { a: text },
    });
    await test.publishAll(all("1"));
    for (const type of coreTypes) test.source.accepts(type, "");
    test.start();
    await expect.poll(() => test.told.length).toBe(1);
    await expect.poll(() => test.asked.length).toBe(2);
    // No request about any type is under way that closing could end.
    await test.publishAll(all("2"));
    await expect.poll(() => test.told.length).toBe(2);
    const count = test.asked.length;
    test.source.close();
    // Longer than a word is waited for.
    await sleep(1_500);
    expect(test.asked.length).toBe(count);
  });

  it.each(["clusters", "routes"] as const)(
    "tells a route with the cluster that it leads to, however late the answer about %s comes",
    async (type) => {
      const test = await following();
      await test.publishAll({ clusters: { a: "1" }, routes: { 80: "to a" } });
      const answered = Promise.withResolvers<void>();
      test.slow(type, answered.promise);
      test.start();
      await expect.poll(() => test.told.length).toBe(1);
      await test.publishAll({ clusters: { b: "1" }, routes: { 80: "to b" } });
      await expect.poll(() => test.told.length).toBe(2);
      const names = test.told.map(({ clusters, routes }) => [
        ...clusters.resources.keys(),
        routes.resources.get("80")?.text.includes("to b"),
      ]);
      expect(names).toEqual([
        ["a", false],
        ["b", true],
      ]);
      answered.resolve();
      expect(test.troubles).toEqual([]);
    },
  );
});
