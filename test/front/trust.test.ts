import { beforeAll, describe, expect, it } from "vitest";
import { headKey } from "../../lib/base/blob.ts";
import { twoStores } from "../../lib/front/heads/two-stores.ts";
import { parseHead, readHead } from "../../lib/snapshot/head/head.ts";
import { rollback, setCanary, signHeadAsIs } from "../../lib/snapshot/head/head-operations.ts";
import { signHead, type Trust } from "../../lib/snapshot/head/signatures.ts";
import { makeSigningKey, publicPart, type SigningJwk } from "../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";

let signer: SigningJwk;
let trusted: readonly SigningJwk[];
beforeAll(async () => {
  signer = await makeSigningKey("roots");
  trusted = [publicPart(signer)];
});

const pace = { settleMs: 0, retentionMs: 0 };
const world = (content: string) => worldOf({ web: { clusters: { a: content } } });

function trustingFront() {
  const errors: string[] = [];
  const { store, poll } = testFront({ trusted, onError: (cause) => errors.push(String(cause)) });
  const ask = async () => {
    const response = await poll("clusters", pollBody("clusters", nodeOf("web")));
    return response.status === 200 ? /"content":"(\w+)"/.exec(await response.text())?.[1] : response.status;
  };
  return { store, ask, errors };
}

async function publish(store: ObjectStore, content: string, trust: Trust): Promise<void> {
  const publisher = createPublisher(store, { pace, ...trust });
  await publisher.publish(world(content), await publisher.head());
}

/** Writes HEAD as a thief of the store's credentials can, who has no key. */
async function forge(store: ObjectStore, change: (head: object) => object): Promise<void> {
  const found = await store.get(headKey);
  const head: object = found.kind === "found" ? JSON.parse(new TextDecoder().decode(found.bytes)) : {};
  await store.put(headKey, new TextEncoder().encode(JSON.stringify(change(head))));
}

const headBytes = async (store: ObjectStore) => {
  const found = await store.get(headKey);
  if (found.kind !== "found") throw new Error("no HEAD");
  return found.bytes;
};

describe("a front that follows signed HEADs only", () => {
  it("serves nothing before the first, and keeps the last in place of others", async () => {
    const { store, ask, errors } = trustingFront();
    await publish(store, "unsigned", {});
    expect(await ask()).toBe(503);
    for (const { key } of await allOf(store.list(""))) await store.delete(key);
    await publish(store, "first", { signer });
    expect(await ask()).toBe("first");
    expect((await fsck(store, { trusted })).problems).toEqual([]);

    const stranger = await makeSigningKey("roots");
    const first = await headBytes(store);
    const root = await createPublisher(store).stage(world("second"));
    for (const by of [stranger, { ...stranger, kid: signer.kid }]) {
      const head = parseHead(first);
      const steps = [{ root, at: "2020-01-01T00:00:00.000Z" }];
      const forged = await signHead(by, { ...head, generation: head.generation + 1, steps });
      await forge(store, () => forged);
      expect(await ask()).toBe("first");
    }
    expect((await fsck(store, { trusted })).problems).toContainEqual(
      expect.stringContaining("none of the trusted keys"),
    );
    expect(errors.join()).toContain("none of the trusted keys");
    await store.put(headKey, first);
    await publish(store, "third", { signer });
    expect(await ask()).toBe("third");
  });

  it.each<[string, (head: object) => object]>([
    ["its generation", (head) => ({ ...head, generation: 99 })],
    ["a step", (head) => ({ ...head, steps: [{ root: "a".repeat(64), at: "2020-01-01T00:00:00.000Z" }] })],
    ["a canary", (head) => ({ ...head, canary: { root: "a".repeat(64), percent: 100, labels: {} } })],
    ["a pin", (head) => ({ ...head, pin: { by: "", why: "", since: "2020-01-01T00:00:00.000Z" } })],
    ["its signature", (head) => ({ ...head, signatures: undefined })],
  ])("does not follow a HEAD whose signature does not cover %s", async (_what, change) => {
    const { store, ask } = trustingFront();
    await publish(store, "first", { signer });
    expect(await ask()).toBe("first");
    await forge(store, change);
    expect(await ask()).toBe("first");
  });

  it("never goes back to an older HEAD, but by a rollback, which is a newer one", async () => {
    const { store, ask, errors } = trustingFront();
    await publish(store, "old", { signer });
    const old = await headBytes(store);
    await publish(store, "new", { signer });
    expect(await ask()).toBe("new");
    const newest = await headBytes(store);
    await store.put(headKey, old);
    expect(await ask()).toBe("new");
    expect(errors.join()).toContain("HEAD went back from generation 2 to 1");
    await store.delete(headKey);
    expect(await ask()).toBe("new");
    await store.put(headKey, newest);
    await rollback(store, 1, { pace, signer });
    expect(await ask()).toBe("old");
  });

  it("gives nobody a canary's root because everybody's is bad", async () => {
    const { store, ask } = trustingFront();
    await publish(store, "everybody", { signer });
    const root = await createPublisher(store).stage(world("canary"));
    await setCanary(store, { root, percent: 0, labels: { app: "canary" } }, { pace, signer });
    expect(await ask()).toBe("everybody");
    await forge(store, (head) => ({ ...head, generation: 9, steps: [{ root, at: "2020-01-01T00:00:00.000Z" }] }));
    expect(await ask()).toBe("everybody");
  });

  it("serves no blob whose content is not what its name says", async () => {
    const { store, ask } = trustingFront();
    await publish(store, "genuine", { signer });
    for await (const { key } of store.list("blobs/")) {
      const found = await store.get(key);
      const text = found.kind === "found" ? new TextDecoder().decode(found.bytes) : "";
      await store.put(key, new TextEncoder().encode(text.replace("genuine", "forgery")));
    }
    expect(await ask()).toBe(503);
  });
});

describe("whoever signs HEAD", () => {
  it("does not vouch for one that somebody else has left there", async () => {
    const { store } = trustingFront();
    await publish(store, "first", { signer });
    const root = "a".repeat(64);
    await forge(store, (head) => ({
      ...head,
      pin: { by: "", why: "", since: "2020-01-01T00:00:00.000Z" },
      newest: root,
    }));
    await expect(publish(store, "second", { signer })).rejects.toThrow("none of the trusted keys");
    await expect(rollback(store, 1, { signer })).rejects.toThrow("none of the trusted keys");
  });

  it("may be another key than before, as long as both are trusted", async () => {
    const { store } = trustingFront();
    await publish(store, "first", { signer });
    const next = await makeSigningKey("roots");
    await expect(publish(store, "second", { signer: next })).rejects.toThrow("none of the trusted keys");
    await publish(store, "second", { signer: next, trusted: [next, ...trusted].map(publicPart) });
    expect((await fsck(store, { trusted: [publicPart(next)] })).problems).toEqual([]);
  });

  it("takes over a HEAD that was never signed when a person says so", async () => {
    const { store, ask } = trustingFront();
    await publish(store, "first", {});
    await expect(publish(store, "second", { signer })).rejects.toThrow("`portolan sign` vouches for it");
    await signHeadAsIs(store, signer);
    expect(await ask()).toBe("first");
    await publish(store, "second", { signer });
    expect(await ask()).toBe("second");
  });

  it("is needed once it is signed: nobody moves it to where readers would not follow", async () => {
    const { store } = trustingFront();
    await publish(store, "first", { signer });
    await expect(publish(store, "second", {})).rejects.toThrow("HEAD is signed, and there is no key to sign it with");
    expect((await readHead(store))?.head.generation).toBe(1);
  });
});

describe("a store and its copy, of which the copy has another writer", () => {
  it("go on at the newest HEAD that somebody trusted has signed", async () => {
    const [first, copy] = [memoryStore(), memoryStore()];
    const both = twoStores(first, copy, { trusted });
    const generation = async () => {
      const found = await both.get(headKey);
      return found.kind === "found" ? parseHead(found.bytes).generation : found.kind;
    };
    await publish(first, "one", { signer });
    await copy.put(headKey, await headBytes(first));
    expect(await generation()).toBe(1);
    await forge(copy, (head) => ({ ...head, generation: 1e15 }));
    expect(await generation()).toBe(1);
    await publish(first, "two", { signer });
    expect(await generation()).toBe(2);
    await copy.put(headKey, await headBytes(first));
    await publish(first, "three", { signer });
    expect(await generation()).toBe(3);
  });
});
