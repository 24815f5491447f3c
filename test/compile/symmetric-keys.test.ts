import { describe, expect, it } from "vitest";
import { createCollector } from "../../lib/collect/collector.ts";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import type { OriginObject } from "../../lib/registry/origin/origin.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { FakeOrigin, thing } from "../collect/fake-origin.ts";

const jwks = '{"keys": [{"kty": "oct", "k": "s3cret-s3cret-s3cret"}]}';
const tokens: OriginObject = {
  key: "RequestAuthentication/shop/tokens",
  version: "1",
  object: {
    apiVersion: "security.istio.io/v1",
    kind: "RequestAuthentication",
    metadata: { name: "tokens", namespace: "shop" },
    spec: { jwtRules: [{ issuer: "a", jwks }] },
  },
};

describe("a collected RequestAuthentication with symmetric keys", () => {
  it("is refused, until a folder of the mesh allows it, and again when it does not any more", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const done = createCollector({ store, source: "cluster", origin }).once();
    await origin.following;
    origin.whole("all", [
      thing("a", "1", { spec: { clusterIP: "10.0.0.1", ports: [{ name: "http", port: 80 }] } }),
      tokens,
    ]);
    await done;
    const recompile = createWorldRecompiler({ store, sources: ["main", "cluster"] });
    const found = async (compile = recompile) => {
      const { compiled, diagnostics } = await compile();
      const refused = diagnostics.filter(({ code }) => code === "inline-symmetric-key").length;
      return [compiled.loaded.configs.map(({ meta }) => meta.name), refused];
    };
    for (const [word, want] of [
      ["refuse", [[], 1]],
      ["allow", [["tokens"], 0]],
      ["refuse", [[], 1]],
    ] as const) {
      await writeShard(store, "main", [{ file: "portolan.yaml", text: `inlineSymmetricKeys: ${word}\n` }], {
        allowEmpty: true,
      });
      expect(await found()).toEqual(want);
      expect(await found(createWorldRecompiler({ store, sources: ["main", "cluster"] }))).toEqual(want);
    }
  });
});
