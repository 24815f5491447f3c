import { describe, expect, it } from "vitest";
import type { Caller } from "../../../lib/front/auth/caller.ts";
import { ackSourceOf, memoryCdsAcks } from "../../../lib/front/heads/cds-acks.ts";
import { cacheRecords, sharedCdsAcks, storeRecords } from "../../../lib/front/heads/shared-cds-acks.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const nodeId = "sidecar~10.0.0.5~web-0.shop~shop.svc.cluster.local";
const proven: Caller = { kind: "node", subject: "web", namespace: "shop" };
const by = ackSourceOf(nodeId, proven);

function frontsOn(records: Parameters<typeof sharedCdsAcks>[0]) {
  const clock = { nowMs: 1_000_000, errors: 0 };
  const open = () =>
    sharedCdsAcks(records, {
      now: () => clock.nowMs,
      onError: () => {
        clock.errors += 1;
      },
    });
  return { clock, one: open(), other: open() };
}

function edgeCache() {
  const kept = new Map<string, Response>();
  return {
    match: async (url: string) => kept.get(url)?.clone(),
    put: async (url: string, response: Response) => kept.set(url, response),
  };
}

describe.each([
  { where: "the store", records: () => storeRecords(memoryStore()) },
  { where: "an edge's cache", records: () => cacheRecords(edgeCache()) },
])("what a node has confirmed, told by way of $where", ({ records }) => {
  it("counts at another front, as soon as it has let the node through a gate", async () => {
    const { one, other } = frontsOn(records());
    one.observed(by, "v2");
    expect(await other.hasOneOf(by, ["v2"])).toBe(false);
    expect(await one.hasOneOf(by, ["v2", "v3"])).toBe(true);
    expect(await other.hasOneOf(by, ["v2"])).toBe(true);
    expect(await other.hasOneOf(by, ["v3"])).toBe(false);
  });

  it("counts for moments only, since the node may say something else elsewhere", async () => {
    const { one, other, clock } = frontsOn(records());
    one.observed(by, "v2");
    await one.hasOneOf(by, ["v2"]);
    clock.nowMs += 2_500;
    expect([await one.hasOneOf(by, ["v2"]), await other.hasOneOf(by, ["v2"])]).toEqual([false, false]);
    one.observed(by, "v2");
    expect([await one.hasOneOf(by, ["v2"]), await other.hasOneOf(by, ["v2"])]).toEqual([true, true]);
  });

  it("counts for the caller who has said it, and for no other", async () => {
    const { one, other } = frontsOn(records());
    one.observed(by, "v2");
    await one.hasOneOf(by, ["v2"]);
    expect(await other.hasOneOf(ackSourceOf(nodeId, { ...proven, subject: "cart" }), ["v2"])).toBe(false);
    expect(await one.hasOneOf(ackSourceOf("my-node", proven), ["v2"])).toBe(false);
  });
});

describe("records of what nodes have confirmed", () => {
  it("are written into the store for nobody who proves nothing, however many he says he is", async () => {
    const store = memoryStore();
    const { one } = frontsOn(storeRecords(store));
    for (let i = 0; i < 100; i += 1) {
      const stranger = ackSourceOf(nodeId.replace("web-0", `web-${i}`), { kind: "anyone" });
      one.observed(stranger, "v2");
      expect(await one.hasOneOf(stranger, ["v2"])).toBe(true);
    }
    for await (const { key } of store.list("confirmed/")) expect.fail(key);
  });

  it("are no more for one who has proven who he is than a bound, and none is taken for another's", async () => {
    const store = memoryStore();
    const records = storeRecords(store);
    const ids = Array.from({ length: 3_000 }, (_, at) => ackSourceOf(nodeId.replace("web-0", `web-${at}`), proven));
    for (const id of ids) await records.put(id, id.nodeId);
    const kept = await Promise.all(ids.map((id) => records.get(id)));
    expect(kept.filter((text, at) => text !== undefined && text !== ids[at]?.nodeId)).toEqual([]);
    expect(kept.filter((text) => text !== undefined).length).toBeGreaterThan(500);
    const keys: string[] = [];
    for await (const { key } of store.list("confirmed/")) keys.push(key);
    expect(keys.length).toBeLessThanOrEqual(1_024);
  });

  it("are done without where the store fails", async () => {
    const failing = async () => Promise.reject(new Error("down"));
    const { one, other, clock } = frontsOn(storeRecords({ ...memoryStore(), get: failing, put: failing }));
    one.observed(by, "v2");
    expect([await one.hasOneOf(by, ["v2"]), await other.hasOneOf(by, ["v2"]), clock.errors]).toEqual([true, false, 2]);
  });
});

describe("what a node has confirmed", () => {
  it("is kept of ids and versions as long as requests let them be, in little room", async () => {
    const memory = memoryCdsAcks(() => 1_000_000);
    const long = (pod: string) => ackSourceOf(nodeId.replace("web-0", pod + "x".repeat(900)), proven);
    memory.observed(long("a"), "v2");
    memory.observed(long("b"), "v".repeat(1_000));
    expect(await memory.hasOneOf(long("a"), ["v2"])).toBe(true);
    expect(await memory.hasOneOf(long("c"), ["v2"])).toBe(false);
    expect(memory.versionOf(long("b"))).toBe("");
  });

  it("counts for as long as the poll that says it is held, and a moment longer", async () => {
    let nowMs = 1_000_000;
    const memory = memoryCdsAcks(() => nowMs);
    const leave = memory.asks(by, "v2");
    nowMs += 25_000;
    expect(await memory.hasOneOf(by, ["v2"])).toBe(true);
    leave();
    expect(await memory.hasOneOf(by, ["v2"])).toBe(false);
  });
});
