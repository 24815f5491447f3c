import { describe, expect, it } from "vitest";
import { compile } from "../../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { restoreWorld } from "../../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const grant = (name: string, from: string, to: string) => `
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: { name: ${name}, namespace: certs }
spec:
  from: [${from}]
  to: [${to}]
`;

const gatewaysOf = (namespace: string) =>
  `{ group: gateway.networking.k8s.io, kind: Gateway, namespace: ${namespace} }`;

function compiled(text: string) {
  const memo = createMemo();
  return compile(worldOf(readFiles([{ file: "a.yaml", text }]), defaultWorldOptions, memo).value, [], memo).value;
}

const text = [
  grant("one", gatewaysOf("shop"), '{ group: "", kind: Secret, name: shop }'),
  grant("same", gatewaysOf("shop"), '{ group: "", kind: Secret, name: shop }'),
  grant("all", gatewaysOf("infra"), '{ group: "", kind: Secret }'),
  grant(
    "routes",
    "{ group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop }",
    '{ group: "", kind: Secret }',
  ),
  grant("services", gatewaysOf("shop"), '{ group: "", kind: Service }'),
].join("");

describe("what ReferenceGrants say of secrets", () => {
  it("is in the root, for Gateways and secrets alone, each once", () => {
    expect(compiled(text).secretGrants).toEqual([
      { from: "infra", to: "certs" },
      { from: "shop", to: "certs", name: "shop" },
    ]);
  });

  it("is nothing at all where nobody grants any", () => {
    expect(compiled(grant("services", gatewaysOf("shop"), '{ group: "", kind: Service }'))).not.toHaveProperty(
      "secretGrants",
    );
  });

  it("comes out of a store as it went in", async () => {
    const store = memoryStore();
    const publisher = createPublisher(store);
    const published = await publisher.publish(compiled(text), undefined);
    if (published.kind !== "published") throw new Error("the first publish is one");
    const { world } = await restoreWorld(createSnapshotReader(store), published.root);
    expect(world.secretGrants).toEqual(compiled(text).secretGrants);
  });
});
