import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { diagnosticsOfRoot } from "../../lib/compile/root-diagnostics.ts";
import { readShard } from "../../lib/compile/shards/read-shard.ts";
import { mustRefuseClosed } from "../../lib/compile/shards/refuse-closed.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { settleSettings } from "../../lib/compile/world/recorded-settings.ts";
import { refusalsIn, refusalsText } from "../../lib/snapshot/nodes/refusals.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

const pod = `apiVersion: v1
kind: Pod
metadata: { name: web-1, namespace: shop, labels: { app: web, security.istio.io/tlsMode: istio } }
spec: { containers: [] }
status: { phase: Running, podIP: 10.0.0.1, podIPs: [{ ip: 10.0.0.1 }] }
`;
const policy = (rules: string, name = "guard") => `apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: shop }
spec: { selector: { matchLabels: { app: web } }, action: DENY, rules: ${rules} }
`;
const good = policy("[{ to: [{ operation: { paths: [/admin] } }] }]");
const bad = policy("[{ to: [{ operation: { path: [/admin] } }] }]");
const files = (...texts: readonly string[]) => [pod, ...texts].map((text, at) => ({ file: `${at}.yaml`, text }));

const compile = (store: ObjectStore) => createRecompiler({ store })();

/** What the newest root says of refused objects. */
async function refusals(store: ObjectStore, version: string) {
  return refusalsIn(await diagnosticsOfRoot(createSnapshotReader(store), version));
}

describe("a source that is filled", () => {
  const refuseClosed = true;

  it("is left as it was where a security object would close what it selects", async () => {
    const store = memoryStore();
    const failed = writeShard(store, "main", files(bad), { refuseClosed }).catch((cause: unknown) => cause);
    const cause = await failed;
    if (!(cause instanceof PortolanError)) throw cause;
    expect(cause.message).toContain("source main was left as it was");
    expect(cause.diagnostics.map(({ code }) => code)).toEqual(["unknown-field", "security-closed"]);
    expect(cause.diagnostics[1]?.hint).toContain("--accept-closed");
    expect(await readShard(store, "main")).toBeUndefined();
  });

  it("is filled where the last valid form is served instead", async () => {
    const store = memoryStore();
    await writeShard(store, "main", files(good), { refuseClosed });
    await writeShard(store, "main", files(bad), { refuseClosed });
    expect((await readShard(store, "main"))?.kept).toMatchObject([{ key: "AuthorizationPolicy/shop/guard" }]);
    // The file may be moved, too.
    await writeShard(store, "main", [...files(), { file: "other.yaml", text: bad }], { refuseClosed });
    expect((await readShard(store, "main"))?.kept).toHaveLength(1);
  });

  it("is filled again where what is closed was closed before, and refused where more would be", async () => {
    const store = memoryStore();
    await writeShard(store, "main", files(bad));
    await writeShard(store, "main", files(bad, "# more\n"), { refuseClosed });
    const another = policy("[{ to: [] }]", "another");
    await expect(writeShard(store, "main", files(bad, another), { refuseClosed })).rejects.toThrow("left as it was");
  });
});

describe("the setting securityFailure", () => {
  it("closes when it says nothing, and the root and `status` say so", async () => {
    const store = memoryStore();
    await writeShard(store, "main", files(bad));
    const { version } = await compile(store);
    const found = await refusals(store, version);
    expect(found).toMatchObject([{ code: "unknown-field", instead: "closed" }]);
    expect(refusalsText(found)).toBe("1 in the newest version: 1 closed");
  });

  it("leaves out with open, and publishes nothing with refuse", async () => {
    const store = memoryStore();
    await writeShard(store, "main", files(good));
    const before = await compile(store);
    await settleSettings(store, { securityFailure: "open" });
    await writeShard(store, "main", files(policy("[{ to: [] }]", "never")));
    const open = await compile(store);
    expect(open.diagnostics.map(({ code }) => code)).toContain("security-open");
    expect(await refusals(store, open.version)).toMatchObject([{ instead: "nothing" }]);
    await settleSettings(store, { securityFailure: "refuse" });
    await expect(compile(store)).rejects.toThrow("nothing was published");
    await writeShard(store, "main", files(good));
    expect((await compile(store)).version).toBe(before.version);
  });

  it("decides whether a push may close something", async () => {
    const store = memoryStore();
    const answers = async () => [await mustRefuseClosed(store, false), await mustRefuseClosed(store, true)];
    expect(await answers()).toEqual([true, false]);
    await settleSettings(store, { securityFailure: "open" });
    expect(await answers()).toEqual([false, false]);
    await settleSettings(store, { securityFailure: "refuse" });
    expect(await answers()).toEqual([true, true]);
  });
});

describe("a mesh whose security objects break and heal", () => {
  it("compiles to the same root warm, cold and from nothing", async () => {
    const warmStore = memoryStore();
    const coldStore = memoryStore();
    const warm = createRecompiler({ store: warmStore, build: "test" });
    const steps = [
      files(good),
      files(bad),
      files(policy("[{ to: [{ operation: { paths: [/new] } }] }, { to: [] }]")),
      files(good, policy("[{ form: [] }]", "never")),
      files(policy("[{ form: [] }]", "never").replace("AuthorizationPolicy", "RequestAuthentication")),
      files(good),
    ];
    for (const step of steps) {
      for (const store of [warmStore, coldStore]) await writeShard(store, "main", step);
      const { version } = await warm();
      expect((await createRecompiler({ store: coldStore, build: "test" })()).version).toBe(version);
    }
  });
});
