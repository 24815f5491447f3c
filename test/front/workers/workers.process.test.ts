import { describe, expect, it } from "vitest";
import { memoryGenerations } from "../../../lib/front/heads/believed-generations.ts";
import { ackSourceOf } from "../../../lib/front/heads/cds-acks.ts";
import type { UnmatchedNode } from "../../../lib/front/nodes/unmatched-nodes.ts";
import { createHeadRelay } from "../../../lib/front/workers/head-relay.ts";
import { createPrimary } from "../../../lib/front/workers/primary.ts";
import { shareOfLimits } from "../../../lib/front/workers/share-of-limits.ts";
import { createWorker, type OwnParts } from "../../../lib/front/workers/worker.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { lines } from "./lines.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const stranger = (nodeId: string, sinceMs = 1): UnmatchedNode => ({ nodeId, kind: "unknown", reason: "none", sinceMs });
const parts = (more: Partial<OwnParts>): OwnParts => ({
  refusals: () => [],
  strangers: () => [],
  nodes: () => [],
  metrics: () => [],
  ...more,
});

function counted(store: ObjectStore): { readonly store: ObjectStore; reads(): number } {
  let reads = 0;
  return {
    reads: () => reads,
    store: {
      ...store,
      get(key, condition) {
        reads += 1;
        return store.get(key, condition);
      },
    },
  };
}

function openFront(store: ObjectStore, count: number) {
  const clock = { nowMs: 1_000_000 };
  const now = () => clock.nowMs;
  const said: string[] = [];
  const generations = memoryGenerations();
  const relay = createHeadRelay(store, { everyMs: 1_000, now, onChange: () => primary.headChanged() });
  const primary = createPrimary({
    relay,
    generations,
    storeMs: async () => undefined,
    onStranger: ({ nodeId }) => said.push(nodeId),
    onRefusal: ({ nodeId }) => said.push(nodeId),
    onError: (cause) => said.push(String(cause)),
    now,
  });
  const started = Array.from({ length: count }, () => {
    const [toPrimary, toWorker] = lines();
    const leave = primary.join(toWorker, { serving() {}, failed() {} });
    return { worker: createWorker(toPrimary, now), line: toPrimary, leave };
  });
  return { clock, said, started, workers: started.map(({ worker }) => worker), close: () => primary.close() };
}

const unwatched = (store: ObjectStore): ObjectStore => {
  const { watch: _watch, ...rest } = store;
  return rest;
};

describe("HEAD of several processes", () => {
  it("is read once for all of them, as long as it may be old", async () => {
    const { store, reads } = counted(unwatched(memoryStore()));
    await store.put("HEAD", encode("one"));
    const { workers, clock, close } = openFront(store, 4);
    const read = async () =>
      Promise.all(
        workers.map(async (worker) => {
          const found = await worker.storeOver(store).get("HEAD");
          return found.kind === "found" ? new TextDecoder().decode(found.bytes) : found.kind;
        }),
      );
    expect(await read()).toEqual(["one", "one", "one", "one"]);
    clock.nowMs += 900;
    await read();
    expect(reads()).toBe(1);
    await store.put("HEAD", encode("two"));
    clock.nowMs += 200;
    expect(await read()).toEqual(["two", "two", "two", "two"]);
    expect(reads()).toBe(2);
    close();
  });

  it("is not sent again to whoever has it, and anything else is read by each for itself", async () => {
    const { store, reads } = counted(memoryStore());
    await store.put("HEAD", encode("one"));
    await store.put("blobs/a", encode("blob"));
    const { workers, close } = openFront(store, 1);
    const [own = store] = workers.map((worker) => worker.storeOver(store));
    const found = await own.get("HEAD");
    expect(found.kind === "found" && (await own.get("HEAD", { ifNoneMatch: found.etag }))).toEqual({
      kind: "unchanged",
    });
    expect(await own.get("blobs/a")).toMatchObject({ kind: "found" });
    expect(reads()).toBe(2);
    expect(await openFront(memoryStore(), 1).workers[0]?.storeOver(store).get("HEAD")).toEqual({ kind: "absent" });
    close();
  });

  it("calls everybody when it has moved, where the store calls", async () => {
    const store = memoryStore();
    await store.put("HEAD", encode("one"));
    const { workers, close } = openFront(store, 2);
    let calls = 0;
    for (const worker of workers) worker.storeOver(store).watch?.("HEAD", () => (calls += 1));
    await store.put("HEAD", encode("two"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toBe(2);
    close();
  });

  it("says why where the store does not give it", async () => {
    const store = memoryStore();
    const { PortolanError } = await import("../../../lib/base/diagnostic.ts");
    const broken: ObjectStore = { ...unwatched(store), get: () => Promise.reject(new PortolanError("no bucket")) };
    const { workers, close } = openFront(broken, 1);
    await expect(workers[0]?.storeOver(store).get("HEAD")).rejects.toThrow("no bucket");
    close();
  });
});

describe("what several processes know of nodes", () => {
  it("is gathered by whoever is asked, without those that are silent", async () => {
    const { workers, started, close } = openFront(memoryStore(), 3);
    const [one, two, three] = workers;
    const status = { node: "n", seen: "", isOpen: true, pauseMs: 0, resources: [] };
    two?.serve(parts({ strangers: () => [stranger("a")], metrics: () => [{ name: "polls" }] }));
    three?.serve(parts({ strangers: () => [stranger("b")], nodes: () => [status] }));
    expect((await one?.siblings.strangers())?.map(({ nodeId }) => nodeId).sort()).toEqual(["a", "b"]);
    expect(await one?.nodes()).toEqual([status]);
    expect(await one?.metrics()).toEqual([[{ name: "polls" }], []]);
    started[2]?.leave();
    expect((await one?.siblings.strangers())?.map(({ nodeId }) => nodeId)).toEqual(["a"]);
    close();
  });

  it("is told once, whoever hears of it, and again when it is long ago", async () => {
    const { started, said, clock, close } = openFront(memoryStore(), 2);
    const tell = async () => {
      for (const { line } of started) line.send({ kind: "stranger", unmatched: stranger("my-node") });
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await tell();
    await tell();
    expect(said).toEqual(["my-node"]);
    clock.nowMs += 3_600_000;
    await tell();
    expect(said).toEqual(["my-node", "my-node"]);
    close();
  });
});

describe("what a node has confirmed to one process", () => {
  const by = ackSourceOf("sidecar~10.0.0.5~web-0.shop~shop.svc.cluster.local", { kind: "anyone" });
  const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

  it("counts in the others once it has let the node through, wakes who waits there, and is soon forgotten", async () => {
    const { workers, clock, close } = openFront(memoryStore(), 2);
    const [one, other] = workers.map(({ cdsAcks }) => cdsAcks);
    let woken = 0;
    other?.watch(by, () => (woken += 1));
    const count = other?.count(by);
    one?.observed(by, "v2");
    expect(await one?.hasOneOf(by, ["v2"])).toBe(true);
    await soon();
    expect(woken).toBe(1);
    expect(other?.count(by)).not.toBe(count);
    expect(await other?.hasOneOf(by, ["v2"])).toBe(true);
    expect(await other?.hasOneOf(by, ["v3"])).toBe(false);
    expect(await other?.hasOneOf(ackSourceOf(by.nodeId, { kind: "operator", subject: "o" }), ["v2"])).toBe(false);
    clock.nowMs += 2_500;
    expect(await other?.hasOneOf(by, ["v2"])).toBe(false);
    close();
  });

  it("does not count where two Envoys say that they are the node", async () => {
    const { workers, close } = openFront(memoryStore(), 2);
    const [one, other] = workers.map(({ cdsAcks }) => cdsAcks);
    one?.observed(by, "v2");
    await one?.hasOneOf(by, ["v2"]);
    await soon();
    other?.asks(by, "v1");
    other?.asks(by, "v1");
    expect(await other?.hasOneOf(by, ["v2"])).toBe(false);
    close();
  });
});

describe("shareOfLimits", () => {
  it("gives each process its part of what all may take, and leaves what one request may alone", () => {
    const share = shareOfLimits(limits, 4);
    expect(share.heldBytes * 4).toBe(limits.heldBytes);
    expect(share.connections * 4).toBe(limits.connections);
    expect(share.pollBytes).toBe(limits.pollBytes);
    expect(share.streamBytes).toBe(limits.streamBytes);
    expect(shareOfLimits(limits, 1)).toEqual(limits);
  });

  it("leaves room for the largest request, however many processes there are", () => {
    const share = shareOfLimits(limits, 256);
    expect(share.bodiesBytes).toBeGreaterThanOrEqual(limits.deltaBytes);
    expect(share.watchedBytes).toBeGreaterThanOrEqual(limits.streamBytes);
  });
});
