import { describe, expect, it } from "vitest";
import { createWorldRecompiler } from "../../../lib/compile/recompile.ts";
import { fillWanted } from "../../../lib/compile/shards/wanted-shard.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import {
  maxWanted,
  ownerOf,
  ownerPrefix,
  wantedMs,
  wantedOwner,
  wantedPrefix,
} from "../../../lib/snapshot/nodes/wanted.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { nodeOf, pollBody, testFront } from "../../front/fixtures.ts";
import { bare, filesOf, networking } from "../pods/manifests.ts";

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default" },
  spec: { clusterIP: "10.96.0.9", ports: [{ name: "http", port: 80 }] },
};
/** What only nodes with the label get: a smaller view of the mesh. */
const own = networking(
  "Sidecar",
  "late",
  { workloadSelector: { labels: { app: "late" } }, egress: [{ hosts: ["./nothing.example"] }] },
  { namespace: "default" },
);
const known = {
  ...bare("web-0", {}, { app: "web" }),
  metadata: { name: "web-0", namespace: "default", labels: { app: "web", "security.istio.io/tlsMode": "istio" } },
};

async function meshWith(objects: readonly object[], now = () => Date.now()) {
  const store = memoryStore(now);
  await writeShard(store, "main", filesOf(objects));
  const recompile = createWorldRecompiler({ store, world: defaultWorldOptions, now });
  await recompile();
  let compiles = 0;
  const compiled: Promise<unknown>[] = [];
  const test = testFront({
    store,
    maxHoldMs: 20_000,
    onWanted: () => {
      compiles += 1;
      compiled.push(recompile());
    },
  });
  return { ...test, store, recompile, count: () => compiles, settled: () => Promise.all(compiled) };
}

const held = { "x-envoy-expected-rq-timeout-ms": "30000" };
const late = nodeOf("late-0", { app: "late" });
const clustersOf = async (response: Response): Promise<readonly string[]> => {
  const { resources }: { readonly resources: readonly { readonly name: string }[] } = JSON.parse(await response.text());
  return resources.map(({ name }) => name);
};

describe("a node that no class was compiled for", () => {
  it("is held until its own class is there, and never given the default one's clusters", async () => {
    const { poll, count } = await meshWith([service, own, known]);
    const response = await poll("clusters", pollBody("clusters", late), held);
    expect(response.status).toBe(200);
    expect((await clustersOf(response)).some((name) => name.includes("web.default"))).toBe(false);
    expect(count()).toBe(1);
    const again = await poll("listeners", pollBody("listeners", nodeOf("late-1", { app: "late" })), held);
    expect([again.status, count()]).toEqual([200, 1]);
  });

  it("is told with 503 why, and to come again, where no poll is held", async () => {
    const { poll, settled } = await meshWith([service, own, known]);
    const response = await poll("clusters", pollBody("clusters", late));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await response.text()).toContain("is being compiled");
    await settled();
    expect((await poll("clusters", pollBody("clusters", late))).status).toBe(200);
  });

  it("makes a root of its record that follows from the sources, and is the same wherever it is compiled again", async () => {
    const { poll, store, recompile, settled } = await meshWith([service, own, known]);
    await poll("clusters", pollBody("clusters", late), held);
    await settled();
    const { version, compiled } = await recompile();
    expect(compiled.value.sources.map(({ name }) => name)).toEqual(["main", "wanted"]);
    const elsewhere = createWorldRecompiler({ store, world: defaultWorldOptions });
    expect(await elsewhere()).toMatchObject({ kind: "unchanged", version });
  });

  it("is forgotten when its record is too old, with its class", async () => {
    let nowMs = 1_000_000_000;
    const { poll, store, recompile, settled } = await meshWith([service, own, known], () => nowMs);
    await poll("clusters", pollBody("clusters", late), held);
    await settled();
    const before = (await recompile()).compiled.value.classes.length;
    nowMs += wantedMs + 1;
    expect((await recompile()).compiled.value.classes.length).toBe(before - 1);
    for await (const { key } of store.list(wantedPrefix)) expect.fail(key);
  });

  it("gets what it got before where nobody compiles, and a plain id is told what to write where", async () => {
    const { publish, poll } = testFront();
    const { recompile } = await meshWith([service, own, known]);
    await publish((await recompile()).compiled.value);
    expect((await poll("clusters", pollBody("clusters", late))).status).toBe(200);
    const plain = await poll("clusters", pollBody("clusters", { id: "my-node" }));
    expect(plain.status).toBe(404);
    expect(await plain.text()).toContain("proxies: into portolan.yaml");
  });

  it("costs those who compile one look while there is none: sources are listed for themselves alone", async () => {
    const { store } = await meshWith([service, known]);
    const lists: string[] = [];
    const list: typeof store.list = (prefix, after) => {
      lists.push(prefix);
      return store.list(prefix, after);
    };
    const folders: typeof store.folders = (prefix) => {
      lists.push(prefix);
      return store.folders(prefix);
    };
    await createWorldRecompiler({ store: { ...store, list, folders }, world: defaultWorldOptions })();
    expect(lists.filter((prefix) => prefix === "sources/")).toHaveLength(1);
    expect(lists.filter((prefix) => prefix === wantedPrefix)).toHaveLength(1);
  });

  it("leaves its place to others by namespaces where there are too many: the oldest of those that have most go first", async () => {
    let nowMs = 1_000_000_000;
    const store = memoryStore(() => nowMs);
    const write = async (namespace: string, count: number, subject?: string) => {
      for (let i = 0; i < count; i += 1) {
        nowMs += 1;
        const name = `${i}`.padStart(4, "0");
        await store.put(`${ownerPrefix(wantedOwner(namespace, subject))}${name}`, new TextEncoder().encode("{}"));
      }
    };
    await write("any", 12);
    await write("evil", 512, "evil");
    await write("team", 20, "team");
    await fillWanted(store, () => nowMs);
    const keys: string[] = [];
    for await (const { key } of store.list(wantedPrefix)) keys.push(key);
    const of = (namespace: string, subject: string | undefined) =>
      keys.filter((key) => key.startsWith(ownerPrefix(wantedOwner(namespace, subject))));
    expect(keys).toHaveLength(maxWanted);
    expect(of("any", undefined)).toHaveLength(0);
    expect(of("team", "team")).toHaveLength(20);
    expect(of("evil", "evil").map((key) => key.slice(-4))).toEqual(
      Array.from({ length: 492 }, (_, i) => `${i + 20}`.padStart(4, "0")),
    );
  });

  it("keeps the records of an earlier version, each subject by itself", async () => {
    const store = memoryStore(() => 1_000_000_000);
    const key = `${wantedPrefix}0123456789abcdef-0000`;
    await store.put(key, new TextEncoder().encode("{}"));
    await fillWanted(store, () => 1_000_000_000);
    expect((await store.get(key)).kind).toBe("found");
    expect(ownerOf(key)).toEqual({ namespace: "0123456789abcdef", subject: "0123456789abcdef" });
  });

  it("is not stood for by what a hand has left among the records", async () => {
    const { store, recompile } = await meshWith([service, known]);
    const before = (await recompile()).compiled.value.classes.length;
    const text = (bytes: string) => new TextEncoder().encode(bytes);
    await store.put(`${wantedPrefix}a`, text("no JSON"));
    await store.put(`${wantedPrefix}b`, text('{"id": "x",\n"wanted": true}'));
    expect((await recompile()).compiled.value.classes.length).toBe(before);
  });
});
