import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blobKey, blobOf, blobOfKey } from "../../../lib/base/blob.ts";
import { authenticateBy, identified } from "../../../lib/front/auth/authentication.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { propertyRuns } from "../../soak-options.ts";
import { nodeOf, testFront } from "../fixtures.ts";

interface Delta {
  readonly nonce: string;
  readonly resources: readonly { readonly name: string; readonly version: string }[];
  readonly removed_resources?: readonly string[];
}

type Test = ReturnType<typeof testFront>;

const ask = (test: Test, more: object, name = "web") =>
  test.request("/v3/delta:clusters", { method: "POST", body: JSON.stringify({ node: nodeOf(name), ...more }) });

async function deltaOf(test: Test, more: object): Promise<Delta> {
  const response = await ask(test, more);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const delta: Delta = JSON.parse(await response.text());
  return delta;
}

const versionsIn = ({ resources }: Delta) => Object.fromEntries(resources.map(({ name, version }) => [name, version]));
const toldIn = ({ resources, removed_resources = [] }: Delta) => [resources.map(({ name }) => name), removed_resources];

/** The same store, with what is read of it. */
function counting(store: ObjectStore): { readonly store: ObjectStore; read: { objects: number; bytes: number } } {
  const counted = { read: { objects: 0, bytes: 0 }, store };
  counted.store = {
    ...store,
    async get(key, ...more) {
      const result = await store.get(key, ...more);
      counted.read.objects += 1;
      if (result.kind === "found") counted.read.bytes += result.bytes.length;
      return result;
    },
  };
  return counted;
}

const many = (changed: Readonly<Record<string, string>> = {}) => {
  const all = Array.from({ length: 5_000 }, (_, i) => [`c${String(i).padStart(4, "0")}`, "x".repeat(200)]);
  return worldOf({ web: { clusters: { ...Object.fromEntries(all), ...changed } } });
};

describe("a delta request that names the version it holds", () => {
  it("has a front read what differs, of thousands, where one that lists its resources has it read them all", async () => {
    const store = memoryStore();
    const first = testFront({ store });
    await first.publish(many());
    const { nonce, ...before } = await deltaOf(first, {});
    await first.publish(many({ c2500: "y" }));

    const cold = async (more: object) => {
      const counted = counting(store);
      const delta = await deltaOf(testFront({ store: counted.store }), more);
      return { told: toldIn(delta), ...counted.read };
    };
    const byVersion = await cold({ response_nonce: nonce });
    const byNames = await cold({ initial_resource_versions: versionsIn({ nonce, ...before }) });
    expect(byVersion.told).toEqual([["c2500"], []]);
    expect(byNames.told).toEqual(byVersion.told);
    // Of both roots what leads to the lists of segments, and of some 70 segments the one that differs, before and after.
    expect(byVersion.objects).toBeLessThan(40);
    expect(byVersion.bytes).toBeLessThan(250_000);
    expect(byNames.objects).toBeGreaterThan(2 * byVersion.objects);
    expect(byNames.bytes).toBeGreaterThan(10 * byVersion.bytes);

    const counted = counting(store);
    const warm = testFront({ store: counted.store });
    await deltaOf(warm, {});
    counted.read = { objects: 0, bytes: 0 };
    const [again] = [await deltaOf(warm, { response_nonce: nonce })];
    expect(toldIn(again)).toEqual([["c2500"], []]);
    // Only the older root, and the one segment of it that is no more.
    expect(counted.read.bytes).toBeLessThan(100_000);
  });

  it("is answered as one that lists what it has, whatever was edited", async () => {
    const names = Array.from({ length: 40 }, (_, i) => `cluster-${i}`);
    const contents = fc.dictionary(
      fc.constantFrom(...names),
      fc.constantFrom("1", "2", "3".repeat(9_000), "4".repeat(70_000)),
      { maxKeys: 40 },
    );
    const wanted = fc.option(fc.uniqueArray(fc.constantFrom(...names, "none"), { minLength: 1, maxLength: 5 }), {
      nil: undefined,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(contents, { minLength: 2, maxLength: 4 }), wanted, async (worlds, subscribe) => {
        const test = testFront();
        const [clusters = {}, ...edits] = worlds;
        await test.publish(worldOf({ web: { clusters } }));
        const names = subscribe === undefined ? {} : { resource_names_subscribe: subscribe };
        const first = await deltaOf(test, names);
        for (const edited of edits) await test.publish(worldOf({ web: { clusters: edited } }));
        const known = versionsIn(first);
        const byNames = await ask(test, { ...names, initial_resource_versions: known, response_nonce: first.nonce });
        const byVersion = await ask(test, { ...names, response_nonce: first.nonce });
        expect(byVersion.status).toBe(byNames.status);
        if (byNames.status !== 200) return;
        const listed: Delta = JSON.parse(await byNames.text());
        const held: Delta = JSON.parse(await byVersion.text());
        // Who was told that there is nothing of a name, and lists what it has, is told so again.
        const removed = listed.removed_resources?.filter((name) => Object.hasOwn(known, name)) ?? [];
        expect(held).toEqual({ ...listed, removed_resources: removed.length > 0 ? removed : undefined });
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  it("is told to list what it has when the store has the older snapshot no more", async () => {
    const test = testFront();
    await test.publish(worldOf({ web: { clusters: { a: "1" } } }));
    const { nonce } = await deltaOf(test, {});
    const [version = ""] = nonce.split(".");
    const gone = await ask(test, { response_nonce: `${version.replace(/./g, "0")}.${"0".repeat(64)}` });
    expect([gone.status, await gone.text()]).toEqual([410, expect.stringContaining("initial_resource_versions")]);
    const call = await test.request("/portolan.v1.SnapshotService/DeltaFetch", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ node: nodeOf("web"), type_url: typeUrlOf("clusters"), response_nonce: "of-long-ago" }),
    });
    expect([call.status, await call.json()]).toEqual([400, expect.objectContaining({ code: "failed_precondition" })]);
  });

  it("may name the version alone, as long as the front that it asks has served it", async () => {
    const test = testFront();
    await test.publish(worldOf({ web: { clusters: { a: "1", b: "1" } } }));
    const [version] = (await deltaOf(test, {})).nonce.split(".");
    await test.publish(worldOf({ web: { clusters: { a: "2" } } }));
    expect(toldIn(await deltaOf(test, { response_nonce: version }))).toEqual([["a"], ["b"]]);
  });

  it("learns nothing of versions that were never its own, whoever had them", async () => {
    const caller = { kind: "node", subject: "web", namespace: "default", serviceAccount: "web" } as const;
    const test = testFront({ authentication: authenticateBy("test", [async () => identified(caller)]) });
    const classes = (web: string, other: string) => ({
      ...worldOf({ web: { clusters: { [web]: "1" } }, other: { clusters: { [other]: "1" } } }),
      nodes: [
        { keys: ["web/web.default"], classId: "web" },
        { keys: ["other/other.default"], classId: "other" },
      ],
    });
    await test.publish(classes("mine", "theirs"));
    const { nonce } = await deltaOf(test, {});
    const [, root = ""] = nonce.split(".");
    const loaded = await test.front.reader.root(root);
    const index = loaded.classes.get("other")?.stream.clusters;
    const theirs = await test.front.reader.tree(loaded.root, "clusters", index);
    await test.publish(classes("mine-2", "theirs-2"));
    const stolen = await ask(test, { response_nonce: `${theirs.version.slice(0, 32)}.${root}` });
    expect([stolen.status, await stolen.text()]).toEqual([410, expect.not.stringContaining("theirs")]);
    expect(toldIn(await deltaOf(test, { response_nonce: nonce }))).toEqual([["mine-2"], ["mine"]]);
  });

  it("is answered alike, and blames nobody, when its nonce names a blob that is no root, or none at all", async () => {
    const store = memoryStore();
    const errors: unknown[] = [];
    const test = testFront({ store, onError: (cause) => errors.push(cause) });
    await test.publish(worldOf({ web: { clusters: { a: "1" } } }));
    const blobs = ["null", "[]", "1", '"text"', "not JSON", "{}\n{}", '{"format":99}'].map(blobOf);
    for (const { hash, bytes } of blobs) await store.put(blobKey(hash), bytes);
    const stored: string[] = [];
    for await (const { key } of store.list("blobs/")) stored.push(blobOfKey(key) ?? "");
    const answers = await Promise.all(
      [...stored, "0".repeat(64)].map(async (hash) => {
        const response = await ask(test, { response_nonce: `v.${hash}` });
        return [response.status, await response.text()];
      }),
    );
    expect(answers.length).toBeGreaterThan(blobs.length + 5);
    expect(new Set(answers.map(String)).size).toBe(1);
    expect(answers[0]).toEqual([410, expect.any(String)]);
    expect(errors).toEqual([]);
  });

  it("has few roots of long ago read at a time, however many are named at once", async () => {
    const store = memoryStore();
    const first = testFront({ store });
    const nonces: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      await first.publish(worldOf({ web: { clusters: { a: String(i) } } }));
      nonces.push((await deltaOf(first, {})).nonce);
    }
    const roots = new Set(nonces.map((nonce) => blobKey(nonce.split(".")[1] ?? "")));
    let [now, most] = [0, 0];
    const slow: ObjectStore = {
      ...store,
      async get(key, ...more) {
        if (!roots.has(key)) return store.get(key, ...more);
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setTimeout(resolve, 5));
        now -= 1;
        return store.get(key, ...more);
      },
    };
    const cold = testFront({ store: slow, limits: { ...limits, olderRoots: 2 } });
    await deltaOf(cold, {});
    const deltas = await Promise.all(
      nonces.slice(0, -1).map(async (nonce) => deltaOf(cold, { response_nonce: nonce })),
    );
    expect(deltas.map(toldIn)).toEqual(deltas.map(() => [["a"], []]));
    expect(most).toBe(2);
  });
});
