import { describe, expect, it } from "vitest";
import type { Classifier, NodeClaims } from "../../../lib/base/classifier.ts";
import type { Caller } from "../../../lib/front/auth/caller.ts";
import { createWantedClasses } from "../../../lib/front/nodes/wanted-classes.ts";
import { wantedPrefix, wantedRecord } from "../../../lib/snapshot/nodes/wanted.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

const classifier: Classifier = {
  attributes: ["clusterId", "families", "metadata:HTTP10", "namespace", "type"],
  labels: { "*": { keys: ["app"] } },
  classes: {},
  defaults: { "sidecar/shop": "sidecar-default" },
};
const anyone: Caller = { kind: "anyone" };
const proven = (subject: string): Caller => ({ kind: "node", subject, namespace: "shop" });

const node = (name: string, labels: Readonly<Record<string, unknown>> = {}, metadata: object = {}): NodeClaims => ({
  id: `sidecar~10.0.0.5~${name}.shop~shop.svc.cluster.local`,
  cluster: "web.shop",
  metadata: { NAMESPACE: "shop", LABELS: labels, ...metadata },
  locality: "eu/a",
});

function wantedIn(store = memoryStore()) {
  const told = { compiles: 0, nowMs: 1_000_000, errors: 0 };
  const { want } = createWantedClasses({
    store,
    now: () => told.nowMs,
    trigger: () => {
      told.compiles += 1;
    },
    onError: () => {
      told.errors += 1;
    },
  });
  const keys = async () => {
    const found: string[] = [];
    for await (const { key } of store.list(wantedPrefix)) found.push(key);
    return found;
  };
  return { told, keys, want: (claims: NodeClaims, caller = anyone) => want(classifier, claims, caller) };
}

describe("a record of a wanted class", () => {
  it("holds what the classifier reads of a node and nothing else of it", () => {
    const claims = node("web-0", { app: "web", "pod-template-hash": "x" }, { HTTP10: "1", OWNER: "me" });
    const { bytes } = wantedRecord(classifier, claims) ?? {};
    expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual({
      id: "sidecar~192.0.2.0~wanted.shop~shop.svc.cluster.local",
      wanted: true,
      namespace: "shop",
      cluster: "",
      locality: "",
      labels: { app: "web" },
      metadata: { HTTP10: "1" },
    });
  });

  it("is that of every node which is like it, and of no other", () => {
    const nameOf = (claims: NodeClaims) => wantedRecord(classifier, claims)?.name;
    expect(nameOf(node("web-1", { app: "web", x: "y" }))).toBe(nameOf(node("web-0", { app: "web" })));
    expect(nameOf(node("web-0", { app: "cart" }))).not.toBe(nameOf(node("web-0", { app: "web" })));
  });

  it.each([
    ["an id that is not in Istio's form", { ...node("a"), id: "my-node" }],
    ["a type that is not compiled for", { ...node("a"), id: "ztunnel~10.0.0.5~a.shop~shop.svc.cluster.local" }],
    ["no metadata", { ...node("a"), metadata: {} }],
    ["more than a small record holds", node("a", { app: "x".repeat(5_000) })],
    ["a label that is no text", node("a", { app: { deep: 1 } })],
  ])("is not made of %s", (_what, claims) => {
    expect(wantedRecord(classifier, claims)).toBeUndefined();
  });
});

describe("a node that wants a class", () => {
  it("has one record written, and one compile made, for all that are like it", async () => {
    const { want, keys, told } = wantedIn();
    expect(await Promise.all([want(node("web-0", { app: "web" })), want(node("web-1", { app: "web" }))])).toEqual([
      true,
      true,
    ]);
    expect([(await keys()).length, told.compiles]).toEqual([1, 1]);
  });

  it("waits for the compiler for a while, and then no more", async () => {
    const { want, told } = wantedIn();
    expect(await want(node("web-0"))).toBe(true);
    told.nowMs += 29_000;
    expect(await want(node("web-0"))).toBe(true);
    told.nowMs += 2_000;
    expect(await want(node("web-0"))).toBe(false);
    expect(told.compiles).toBe(1);
  });

  it("waits no longer where the clock was set back by a day", async () => {
    const { want, told } = wantedIn();
    expect(await want(node("web-0"))).toBe(true);
    told.nowMs -= 86_400_000;
    expect(await want(node("web-0"))).toBe(true);
    told.nowMs += 31_000;
    expect(await want(node("web-0"))).toBe(false);
  });

  it("finds the record of a front that is there no more, and has nothing compiled again", async () => {
    const store = memoryStore();
    await wantedIn(store).want(node("web-0"));
    const { want, told } = wantedIn(store);
    expect([await want(node("web-0")), told.compiles]).toEqual([true, 0]);
  });

  it("cannot fill the store nor have endless compiles made, whoever it says it is, and takes no room from who has proven it", async () => {
    const { want, keys, told } = wantedIn();
    const claims = Array.from({ length: 3_000 }, (_, i) => node(`n${i}`, { app: `a${i}` }));
    for (const claim of claims) await want(claim);
    expect([(await keys()).length, told.compiles]).toEqual([32, 32]);
    const bytes = (await keys()).length * 4_096;
    expect(bytes).toBeLessThan(256 * 1024);
    expect(await want(node("web-0"), proven("web"))).toBe(true);
    for (const claim of claims.slice(0, 50)) await want(claim, proven("cart"));
    expect((await keys()).length).toBe(32 + 1 + 8);
  });

  it("finds room in a namespace with few, where one tenant has filled all places, until each has its share", async () => {
    const { want, keys, told } = wantedIn();
    const of = (namespace: string, subject: string): Caller => ({ kind: "node", subject, namespace });
    const nodeIn = (namespace: string, name: string): NodeClaims => ({
      ...node(name, { app: name }),
      id: `sidecar~10.0.0.5~${name}.${namespace}~${namespace}.svc.cluster.local`,
      metadata: { NAMESPACE: namespace, LABELS: { app: name } },
    });
    for (let account = 0; account < 80; account += 1)
      for (let i = 0; i < 10; i += 1)
        await want(nodeIn("evil", `a${account}-${i}`), of("evil", `system:serviceaccount:evil:sa-${account}`));
    expect((await keys()).length).toBe(512);
    expect(await want(nodeIn("newteam", "web"), of("newteam", "system:serviceaccount:newteam:web"))).toBe(true);
    expect(await want(nodeIn("evil", "one-more"), of("evil", "system:serviceaccount:evil:late"))).toBe(false);
    // Of two namespaces each has half of the places, and no more while the other has its own.
    let written = 1;
    for (let account = 0; account < 80; account += 1)
      for (let i = 0; i < 8; i += 1)
        if (
          await want(
            nodeIn("newteam", `b${account}-${i}`),
            of("newteam", `system:serviceaccount:newteam:sa-${account}`),
          )
        )
          written += 1;
    expect([written, (await keys()).length, told.errors]).toEqual([256, 768, 0]);
  });

  it("does not have the store listed for every name that is made up, nor others wait for that", async () => {
    const memory = memoryStore();
    let listings = 0;
    const store: ObjectStore = {
      ...memory,
      list(prefix) {
        listings += 1;
        return memory.list(prefix);
      },
    };
    const { want, told } = wantedIn(store);
    const claims = Array.from({ length: 500 }, (_, i) => node(`n${i}`, { app: `a${i}` }));
    await Promise.all(claims.map((claim) => want(claim)));
    for (const claim of claims) await want({ ...claim, metadata: { ...claim.metadata, HTTP10: "1" } });
    expect(listings).toBe(33);
    expect(await want(node("web-0"), proven("web"))).toBe(true);
    told.nowMs += 31_000;
    await want(node("later", { app: "later" }));
    expect(listings).toBe(35);
  });

  it("does not wait for a compile that somebody else has asked for", async () => {
    let asked = 0;
    const { want } = createWantedClasses({
      store: memoryStore(),
      now: () => 1_000_000,
      trigger: () => {
        asked += 1;
        return asked === 1 ? new Promise(() => {}) : undefined;
      },
      onError: () => {},
    });
    void want(classifier, node("web-0", { app: "web" }), anyone);
    expect(await want(classifier, node("cart-0", { app: "cart" }), anyone)).toBe(true);
  });

  it("is nobody who reads for others", async () => {
    const { want, keys } = wantedIn();
    expect(await want(node("web-0"), { kind: "operator", subject: "me" })).toBe(false);
    expect(await keys()).toEqual([]);
  });

  it("goes on without where the store may not be written", async () => {
    const store = { ...memoryStore(), put: async () => Promise.reject(new Error("denied")) };
    const { want, told } = wantedIn(store);
    expect([await want(node("web-0")), await want(node("web-0")), told]).toMatchObject([
      false,
      false,
      { compiles: 0, errors: 1 },
    ]);
  });

  it("has one compiled for the account that it has proven, where it names none", async () => {
    const caller: Caller = { kind: "node", subject: "web", namespace: "default", serviceAccount: "web" };
    const { poll, publish, store } = testFront({
      onWanted: () => {},
      authentication: { description: "", identify: async () => ({ kind: "identified", caller }) },
    });
    const world = worldOf({ web: { clusters: { a: "1" } } });
    const attributes = ["metadata:SERVICE_ACCOUNT", "namespace", "type"];
    await publish({ ...world, classifier: { ...world.classifier, attributes }, nodes: [] });
    expect((await poll("clusters", pollBody("clusters", nodeOf("web")))).status).toBe(503);
    for await (const { key } of store.list(wantedPrefix)) {
      const found = await store.get(key);
      const record = found.kind === "found" ? JSON.parse(new TextDecoder().decode(found.bytes)) : undefined;
      expect(record).toMatchObject({ metadata: { SERVICE_ACCOUNT: "web" } });
      return;
    }
    expect.fail("no record");
  });
});
