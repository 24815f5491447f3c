import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { lastRoot, readHead } from "../../lib/snapshot/head/head.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

const entry = (name: string) => ({
  file: `${name}.yaml`,
  text: `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}, namespace: shop}
spec: {hosts: [${name}.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: 10.0.0.1}
`,
});

const route = {
  file: "route.yaml",
  text: `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: good, namespace: shop}
spec: {hosts: [good.example.com], http: [{timeout: 1s, route: [{destination: {host: good.example.com}}]}]}
`,
};

const tenPercent = { share: { percent: 10, labels: {} } };

/** A store in which whoever is about to move HEAD waits. */
function heldAtHead(store: ObjectStore) {
  const [held, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: ObjectStore = {
    ...store,
    async put(key, bytes, condition) {
      if (key === "HEAD") {
        reached.resolve();
        await held.promise;
      }
      return store.put(key, bytes, condition);
    },
  };
  return { slow, reached: reached.promise, release: held.resolve };
}

describe("a source that is put back while what it held is compiled", () => {
  const served = async (store: ObjectStore) => lastRoot((await readHead(store))?.head.steps ?? []);

  it("is what is served in the end, though its own compile came to what was served then", async () => {
    const store = memoryStore();
    const compile = createRecompiler({ store });
    await writeShard(store, "main", [entry("good")]);
    const { version } = await compile();
    const { slow, reached, release } = heldAtHead(store);
    await writeShard(store, "main", [entry("bad")]);
    const late = createRecompiler({ store: slow })();
    await reached;
    await writeShard(store, "main", [entry("good")]);
    expect(await compile()).toMatchObject({ kind: "unchanged", version });
    release();
    expect(await late).toMatchObject({ kind: "published", version });
    expect(await served(store)).toBe(version);
  });

  /** A store that fails at the source once HEAD has moved, until it is mended, and in which main is put back just before. */
  async function failingAfterHead(fails: (look: number) => boolean) {
    const store = memoryStore();
    await writeShard(store, "main", [entry("good")]);
    const { version } = await createRecompiler({ store })();
    await writeShard(store, "main", [entry("bad")]);
    let looks = 0;
    let hasMoved = false;
    const failing: ObjectStore = {
      ...store,
      async get(key, condition) {
        if (hasMoved && key === "sources/main/list") {
          looks += 1;
          if (fails(looks)) throw new PortolanError("the store hiccuped");
        }
        return store.get(key, condition);
      },
      async put(key, bytes, condition) {
        if (key !== "HEAD") return store.put(key, bytes, condition);
        if (!hasMoved) await writeShard(store, "main", [entry("good")]);
        hasMoved = true;
        return store.put(key, bytes, condition);
      },
    };
    return { store, version, compile: createRecompiler({ store: failing }) };
  }

  it("is what is served in the end where the store fails once at the look after the publish", async () => {
    const { store, version, compile } = await failingAfterHead((look) => look === 1);
    expect(await compile()).toMatchObject({ kind: "published", version });
    expect(await served(store)).toBe(version);
  });

  it("is told of, with what is published and what to do, where the store fails at the compile after it too", async () => {
    const { version, compile } = await failingAfterHead((look) => look <= 2);
    const told = compile();
    await expect(told).rejects.toThrow(/generation 2 is published, but .* the store hiccuped\. .* ask for one/);
    expect(await compile()).toMatchObject({ kind: "published", version });
  });

  it("costs no compile where it is what was published", async () => {
    const store = memoryStore();
    let compiles = 0;
    const compile = createRecompiler({ store, onCompiled: () => (compiles += 1) });
    await writeShard(store, "main", [entry("good")]);
    await compile();
    expect(compiles).toBe(1);
  });

  it("leaves a canary that was published meanwhile as it is", async () => {
    const store = memoryStore();
    const compile = createRecompiler({ store });
    await writeShard(store, "main", [entry("good")]);
    const { version } = await compile();
    const { slow, reached, release } = heldAtHead(store);
    await writeShard(store, "main", [entry("good"), route]);
    const late = createRecompiler({ store: slow })(tenPercent);
    await reached;
    await writeShard(store, "main", [entry("good")]);
    release();
    const { kind, version: tried } = await late;
    expect(kind).toBe("canary");
    expect(await served(store)).toBe(version);
    expect((await readHead(store))?.head.canary).toMatchObject({ root: tried, percent: 10 });
  });

  it("is what everybody gets beside a canary, of services", async () => {
    const store = memoryStore();
    const compile = createRecompiler({ store });
    await writeShard(store, "main", [entry("good")]);
    const { version } = await compile();
    const { slow, reached, release } = heldAtHead(store);
    await writeShard(store, "main", [entry("bad")]);
    const late = createRecompiler({ store: slow })(tenPercent);
    await reached;
    await writeShard(store, "main", [entry("good")]);
    release();
    expect((await late).kind).toBe("canary");
    expect(await served(store)).toBe(version);
  });
});
