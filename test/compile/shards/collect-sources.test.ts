import { expect, it } from "vitest";
import { collectedSources } from "../../../lib/compile/shards/collect-sources.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { collectGarbage } from "../../../lib/snapshot/upkeep/collect-garbage.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../../snapshot/worlds.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const hash = "a".repeat(64);

const service = (name: string) => `apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { ports: [{ name: http, port: 80 }] }
`;

it("the version that a source holds stays while no root names it yet, and the one before goes", async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const store = memoryStore(() => nowMs);
  const publisher = createPublisher(store, { now: () => nowMs });
  await publisher.publish(worldOf({ web: { clusters: { a: "1" } } }), await publisher.head());
  const before = await writeShard(store, "main", [{ file: "a.yaml", text: service("before") }]);
  const now = await writeShard(store, "main", [{ file: "a.yaml", text: service("now") }]);
  for (let run = 0; run < 2; run += 1) {
    nowMs += 60_000;
    await collectGarbage(store, { keepPublications: 8, graceMs: 1_000, now: () => nowMs, others: [collectedSources] });
  }
  const kindOf = async (version: string) => (await store.get(`sources/main/versions/${version}`)).kind;
  expect([await kindOf(before), await kindOf(now)]).toEqual(["absent", "found"]);
});

it("what is no part of a source goes after the grace time, also of one that cannot be read", async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const store = memoryStore(() => nowMs);
  const publisher = createPublisher(store, { now: () => nowMs });
  await publisher.publish(worldOf({ web: { clusters: { a: "1" } } }), await publisher.head());
  await writeShard(store, "main", [{ file: "a.yaml", text: service("a") }]);
  await store.put("sources/b/list", bytes("garbage"));
  const stay = [
    "main/list",
    "main/state",
    `main/ledger/blobs/${hash}`,
    "main/ledger/head",
    "b/list",
    `b/files/${hash}`,
  ];
  const go = [
    "main/junk/1",
    "main/list/x",
    `main/files/${hash}`,
    `main/files/${hash}/x`,
    "main/kept",
    "b/list/x",
    "b/junk",
  ];
  for (const key of [...stay, ...go]) await store.put(`sources/${key}`, bytes("x"), { ifNoneMatch: "*" });
  const collect = () =>
    collectGarbage(store, { keepPublications: 8, graceMs: 60_000, now: () => nowMs, others: [collectedSources] });
  const left = async () => {
    const all = new Set<string>();
    for await (const { key } of store.list("sources/")) all.add(key.slice("sources/".length));
    return [...stay, ...go].filter((key) => all.has(key));
  };
  nowMs += 30_000;
  for (const _run of [1, 2]) await collect();
  expect(await left()).toEqual([...stay, ...go]);
  for (const _run of [1, 2]) {
    nowMs += 61_000;
    await collect();
  }
  expect(await left()).toEqual(stay);
});
