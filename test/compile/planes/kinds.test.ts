import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { HeadSchema, PublicationSchema } from "../../../gen/portolan/v1/head_pb.ts";
import { RootSchema } from "../../../gen/portolan/v1/root_pb.ts";
import { blobKey, jsonBlob } from "../../../lib/base/blob.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { withConfigurationOf } from "../../../lib/config/folder/planes.ts";
import { readRoot } from "../../../lib/snapshot/format.ts";
import { lastRoot } from "../../../lib/snapshot/head/head.ts";
import { promoteCanary, unpin } from "../../../lib/snapshot/head/head-operations.ts";
import { readHistory } from "../../../lib/snapshot/head/history/history.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { restoreWorld } from "../../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { allOf } from "../../all-of.ts";
import { fillBoth, fillCluster, noPause, openShop, pods, routes } from "./shop.ts";

const options = { pace: noPause };

describe.each([
  ["a cluster that holds both", fillCluster],
  ["a folder of configuration beside a cluster", fillBoth],
])("of %s", (_name, fill) => {
  it("configuration is held and endpoints are followed, in every move of HEAD", async () => {
    const shop = openShop(memoryStore(), "this build", fill);
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    await shop.publish("2s 10.0.0.3");
    await shop.rollout().rollback(1);
    expect(await shop.served()).toBe("1s 10.0.0.3");
    await shop.publish("2s 10.0.0.4");
    expect(await shop.served()).toBe("1s 10.0.0.4");
    await shop.publishCold("3s 10.0.0.5");
    expect([await shop.served(), await shop.newest()]).toEqual(["1s 10.0.0.5", "3s 10.0.0.5"]);
    await unpin(shop.store, options);
    await shop.publish("4s 10.0.0.6", { share: { percent: 10, labels: {} } });
    expect([await shop.served(), await shop.tried()]).toEqual(["3s 10.0.0.6", "4s 10.0.0.6"]);
    await shop.publishCold("4s 10.0.0.7");
    expect([await shop.served(), await shop.tried()]).toEqual(["3s 10.0.0.7", "4s 10.0.0.7"]);
    await promoteCanary(shop.store, options);
    expect(await shop.served()).toBe("4s 10.0.0.7");
    expect((await shop.head()).pin).toBeUndefined();
  });
});

describe("the planes", () => {
  const folder = (n: number) =>
    readFiles([
      { file: "mesh.yaml", text: `connectTimeout: ${n}s\n` },
      { file: "all.yaml", text: `${routes(`${n}s`)}---\n${pods(`10.0.0.${n}`)}---\n${entry(n)}` },
      { file: "clusters/east.yaml", text: pods(`10.1.0.${n}`) },
      { file: "portolan.yaml", text: `endpoints: [{workload: web.shop, hosts: [host-${n}]}]\n` },
    ]);
  const entry = (n: number) => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: out, namespace: shop}
spec: {hosts: [out.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, endpoints: [{address: 10.2.0.${n}}]}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: machine, namespace: shop}
spec: {address: 10.3.0.${n}}
`;

  it("are told apart by kind: what runs where is the newest, how traffic is treated is what is held", () => {
    const joined = withConfigurationOf(folder(2), folder(1));
    expect(joined.diagnostics).toEqual([]);
    const texts = JSON.stringify({ ...joined, meshConfig: undefined });
    for (const newest of ["10.0.0.2", "10.1.0.2", "10.2.0.2", "10.3.0.2", "host-2"]) expect(texts).toContain(newest);
    for (const earlier of ["10.0.0.1", "10.1.0.1", "10.2.0.1", "10.3.0.1", "host-1", "2s"])
      expect(texts).not.toContain(`"${earlier}"`);
    expect(texts).toContain('"timeout":"1s"');
    expect(joined.meshConfig.connectTimeout).toBe("1s");
  });

  it("hold what a refused policy closes, settings that are unusable, and whether keys may stand in policies", () => {
    const policy = `apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: guard, namespace: shop}
spec: {action: DENY, rules: [{to: [{operation: {path: [/admin]}}]}]}
`;
    const closing = readFiles([
      { file: "policy.yaml", text: policy },
      { file: "mesh.yaml", text: "outboundTrafficPolicy: {mode: 7}" },
      { file: "portolan.yaml", text: "inlineSymmetricKeys: allow" },
    ]);
    const plain = readFiles([]);
    const held = withConfigurationOf(plain, closing);
    expect(held.closed).toMatchObject([{ origin: { key: { name: "guard" } } }]);
    expect(held.unusableSettings).toHaveLength(1);
    expect(held.settings.inlineSymmetricKeys).toBe("allow");
    const followed = withConfigurationOf(closing, plain);
    expect([followed.closed, followed.unusableSettings, followed.settings.inlineSymmetricKeys]).toEqual([
      [],
      undefined,
      undefined,
    ]);
  });
});

describe("another version of Portolan", () => {
  it("is tried on a part of the nodes alone: what the others have is not compiled anew", async () => {
    const store = memoryStore();
    const shop = openShop(store);
    await shop.publish("1s 10.0.0.1");
    // As if an earlier version had compiled what is served.
    const { world } = await restoreWorld(createSnapshotReader(store), lastRoot((await shop.head()).steps));
    const publisher = createPublisher(store, options);
    await publisher.publish({ ...world, compiler: "portolan 0.0.0" }, await publisher.head());
    const before = lastRoot((await shop.head()).steps);
    await writeShard(store, "main", [
      { file: "pods.yaml", text: pods("10.0.0.2") },
      { file: "routes.yaml", text: routes("1s") },
    ]);
    const share = { percent: 0, labels: {} };
    await createRecompiler({ store, publisher: options })({ share, why: "a new version" });
    expect(lastRoot((await shop.head()).steps)).toBe(before);
    const { stale } = await shop.rollout().canary((await shop.head()).newest ?? "", { percent: 10, labels: {} });
    expect(stale).toContain("portolan 0.0.0");
    await shop.publishCold("1s 10.0.0.3");
    expect(lastRoot((await shop.head()).steps)).toBe(before);
    const { canary } = await shop.head();
    await promoteCanary(store, options);
    expect(lastRoot((await shop.head()).steps)).toBe(canary?.root);
    await unpin(store, options);
    expect(await shop.served()).toBe("1s 10.0.0.3");
  });
});

describe("what is held", () => {
  it("is written as the messages of proto/portolan/v1 say, field for field", async () => {
    const store = memoryStore();
    const shop = openShop(store);
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    await shop.rollout().rollback(1);
    await shop.publish("3s 10.0.0.3");
    await shop.rollout().canary((await shop.head()).newest ?? "", { percent: 10, labels: {} });
    const head = await shop.head();
    expect([head.pin?.configuration, head.canary?.configuration, head.change]).not.toContain(undefined);
    // fromJson refuses a field that the message lacks.
    fromJson(HeadSchema, JSON.parse(JSON.stringify(head)));
    const reader = createSnapshotReader(store);
    const entries = await allOf(readHistory(reader, head.publication));
    expect(entries.map(({ recorded }) => recorded === undefined)).toContain(false);
    for (const { hash, root } of entries) {
      fromJson(PublicationSchema, JSON.parse(await reader.text(hash)));
      fromJson(RootSchema, JSON.parse(await reader.text(root)));
    }
    const { root } = await reader.root(lastRoot(head.steps));
    expect(root.sources).toEqual([{ name: "main", version: expect.any(String), configuration: expect.any(String) }]);
  });
});

describe("a store of an earlier release", () => {
  it("is rolled back to its configuration with the newest endpoints, though its roots do not name it", async () => {
    const store = memoryStore();
    const shop = openShop(store);
    await shop.publish("1s 10.0.0.1");
    const root = lastRoot((await shop.head()).steps);
    const found = await store.get(blobKey(root));
    if (found.kind !== "found") throw new Error("no root");
    const { configuration: _configuration, ...earlier } = readRoot(root, new TextDecoder().decode(found.bytes));
    const blob = jsonBlob(earlier);
    await store.put(blobKey(blob.hash), blob.bytes);
    await shop.publish("2s 10.0.0.2");
    await shop.rollout().rollback(blob.hash);
    expect(await shop.served()).toBe("1s 10.0.0.2");
    await shop.publishCold("3s 10.0.0.3");
    expect(await shop.served()).toBe("1s 10.0.0.3");
    await shop.rollout().canary(blob.hash, { percent: 10, labels: {} });
    expect(await shop.tried()).toBe("1s 10.0.0.3");
  });
});
