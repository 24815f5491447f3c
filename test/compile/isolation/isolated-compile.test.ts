import { describe, expect, it } from "vitest";
import { createCollector } from "../../../lib/collect/collector.ts";
import { readHeadOf } from "../../../lib/compile/collected/collected-shard.ts";
import { changesInSource } from "../../../lib/compile/isolation/changes-in-source.ts";
import { createIsolatedCompile } from "../../../lib/compile/isolation/isolated-compile.ts";
import { readWithheldSources, type WithheldVersions } from "../../../lib/compile/isolation/withheld-sources.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { sha256 } from "../../../lib/config/canonical-json.ts";
import { newestRoot, readHead } from "../../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { FakeOrigin } from "../../collect/fake-origin.ts";

const entry = (name: string) => ({
  file: `${name}.yaml`,
  text: `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}, namespace: shop}
spec: {hosts: [${name}.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}
---
apiVersion: v1
kind: Pod
metadata: {name: web-${name}, namespace: shop}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: 10.0.0.1}
`,
});

/** A compile function whose processes die of sources with an object named `bomb`; each attempt is a process with the real compiler. */
function workshop(store: ObjectStore = memoryStore()) {
  let nowMs = 1_000_000;
  let deaths = 0;
  let waits = 0;
  const start = () => {
    let held: WithheldVersions = new Map();
    const recompile = createRecompiler({ store, sources: ["main"], held: () => held });
    return createIsolatedCompile({
      store,
      primary: "main",
      now: () => nowMs,
      onWaiting: () => {
        waits += 1;
      },
      attempt: async (attempt) => {
        held = attempt.held;
        if (await holdsBomb(store, held)) {
          deaths += 1;
          return { kind: "ended", reason: "out of memory" };
        }
        return { kind: "compiled", told: await recompile(attempt.publishing, attempt.mayPublish) };
      },
    });
  };
  const compile = start();
  const ask = async (by: typeof compile = compile) => {
    const { kind, diagnostics } = await by(undefined, async () => {});
    const said = diagnostics.filter(({ code }) => code === "source-held");
    return { kind, said: said.map(({ severity, origin }) => `${severity} ${origin.file}`), diagnostics: said };
  };
  return {
    store,
    ask,
    restarted: () => {
      const anew = start();
      return () => ask(anew);
    },
    fill: (source: string, ...names: readonly string[]) => writeShard(store, source, names.map(entry)),
    passMs: (ms: number) => {
      nowMs += ms;
    },
    deaths: () => deaths,
    waits: () => waits,
    served: () => servedBy(store),
  };
}

/** What a process would read: the sources as they are, or as they are held. */
async function holdsBomb(store: ObjectStore, held: WithheldVersions): Promise<boolean> {
  const shards = await Promise.all(
    ["main", "a", "b"].map((name) =>
      held.has(name) && held.get(name) === undefined ? undefined : readShard(store, name, held.get(name)),
    ),
  );
  return shards.some((shard) => shard?.files.some(({ file }) => file === "bomb.yaml"));
}

/** Hosts of the newest root's clusters. */
async function servedBy(store: ObjectStore): Promise<readonly string[]> {
  const read = await readHead(store);
  if (read === undefined) return [];
  const { root } = await createSnapshotReader(store).root(newestRoot(read.head));
  const shards = await Promise.all(root.sources.map(({ name, version }) => readShard(store, name, version)));
  return shards.flatMap((shard) => shard?.files.map(({ file }) => file.replace(".yaml", "")) ?? []);
}

describe("what comes before an attempt", () => {
  it("reads HEAD once, however many sources there are", async () => {
    const below = memoryStore();
    let reads = 0;
    const store: ObjectStore = {
      ...below,
      get(key, options) {
        if (key === "HEAD") reads += 1;
        return below.get(key, options);
      },
    };
    const fill = (source: string) => writeShard(store, source, [entry(source)]);
    for (const source of ["main", "a", "b", "c"]) await fill(source);
    await createRecompiler({ store, sources: ["main"] })();
    reads = 0;
    const compile = createIsolatedCompile({
      store,
      primary: "main",
      now: () => 0,
      onWaiting: () => {},
      attempt: async () => ({ kind: "ended", reason: "it was asked to" }),
    });
    // Nothing has changed, so no source is suspected: HEAD is read twice more to find that, with the sources and for what is in force.
    await expect(compile(undefined, async () => {})).rejects.toThrow("it was asked to");
    expect(reads).toBe(3);
  });
});

describe("a source that is held", () => {
  it("is told of with the files that have changed since the version that is compiled, five of them by name", async () => {
    const { fill, ask } = workshop();
    await fill("main", "shop");
    await fill("b", "gone", "good");
    await ask();
    await fill("b", "bomb", "good");
    const messageOf = async () => (await ask()).diagnostics.map(({ message }) => message.replace(/^.*; /, ""));
    expect(await messageOf()).toEqual(["changed since: bomb.yaml, gone.yaml"]);
    await fill("b", "bomb", "d", "e", "f", "g", "good");
    expect(await messageOf()).toEqual(["changed since: bomb.yaml, d.yaml, e.yaml, f.yaml, g.yaml and 1 more"]);
  });

  it("is told of with the objects that have changed, where a collector fills it", async () => {
    const { store } = workshop();
    const objectOf = (name: string, version: string) => ({
      key: `ServiceEntry/shop/${name}`,
      version,
      object: {
        apiVersion: "networking.istio.io/v1",
        kind: "ServiceEntry",
        metadata: { name, namespace: "shop" },
        spec: { hosts: [`${name}${version}.example.com`], ports: [{ number: 80, name: "http", protocol: "HTTP" }] },
      },
    });
    const collect = async (...objects: readonly ReturnType<typeof objectOf>[]) => {
      const origin = new FakeOrigin();
      const done = createCollector({ store, source: "cluster", origin }).once();
      await origin.following;
      origin.whole("all", objects);
      await done;
    };
    await collect(objectOf("one", "1"), objectOf("two", "1"));
    const read = await readHeadOf(store, "cluster");
    await collect(objectOf("one", "1"), objectOf("two", "2"), objectOf("three", "1"));
    const now = await readHeadOf(store, "cluster");
    const [before, after] = [read, now].map((head) => sha256(head?.text ?? ""));
    expect(await changesInSource(store, "cluster", before ?? "", after ?? "")).toEqual({
      named: ["ServiceEntry/shop/three", "ServiceEntry/shop/two"],
      count: 2,
    });
  });
});

describe("a process that compiles itself, after others have ended in the midst of that", () => {
  /** Compiles that live, where a source with an object named `bomb` is held; else the process ends, and the next one is told of it. */
  function inPlace() {
    const { store, fill, served } = workshop();
    let deaths = 0;
    let nowMs = 1_000_000;
    const seen: string[] = [];
    const ask = async () => {
      let held: WithheldVersions = new Map();
      const recompile = createRecompiler({ store, sources: ["main"], held: () => held });
      const compile = createIsolatedCompile({
        store,
        primary: "main",
        isHere: true,
        now: () => nowMs,
        async attempt(attempt) {
          held = attempt.held;
          if (await holdsBomb(store, held)) throw new Error("this process is no more");
          return { kind: "compiled", told: await recompile(attempt.publishing, attempt.mayPublish) };
        },
      });
      const { signal } = new AbortController();
      const outcome = await compile(undefined, async () => {}, signal, deaths).then(
        ({ kind, diagnostics }) => [kind, ...diagnostics.map(({ severity, origin }) => `${severity} ${origin.file}`)],
        () => ["died"],
      );
      deaths = outcome[0] === "died" ? deaths + 1 : 0;
      seen.push(outcome.join(", "));
    };
    return {
      store,
      fill,
      served,
      /** What came of so many compiles, one after the other. */
      compiles: async (count: number) => {
        seen.length = 0;
        for (let at = 0; at < count; at += 1) await ask();
        return seen;
      },
      passMs: (ms: number) => {
        nowMs += ms;
      },
    };
  }

  it("compiles everything after one death, and holds back the one source that has changed after two", async () => {
    const { fill, compiles, served, passMs } = inPlace();
    await fill("main", "shop");
    await fill("b", "good");
    await compiles(1);
    await fill("b", "good", "bomb");
    expect(await compiles(4)).toEqual(["died", "died", "unchanged, error b", "unchanged, error b"]);
    await fill("main", "shop", "more");
    expect(await compiles(1)).toEqual(["published, error b"]);
    expect(await served()).toEqual(["more", "shop", "good"]);
    // When its time comes one death is enough.
    passMs(10 * 60_000);
    expect(await compiles(3)).toEqual(["died", "unchanged, error b", "unchanged, error b"]);
    await fill("b", "mended");
    expect(await compiles(2)).toEqual(["published", "unchanged"]);
  });

  it("tries several changes one after the other, and publishes the good ones", async () => {
    const { fill, compiles, served, store } = inPlace();
    await fill("main", "shop");
    await compiles(1);
    await fill("main", "shop", "new");
    await fill("a", "bomb");
    await fill("b", "good");
    expect(await compiles(3)).toEqual(["died", "died", "published, warning a, warning b"]);
    expect(await served()).toEqual(["new", "shop"]);
    // `a` is tried, and ends its process; then `b`, beside which it stays held.
    expect(await compiles(3)).toEqual(["died", "published, error a", "unchanged, error a"]);
    expect(await served()).toEqual(["new", "shop", "good"]);
    expect((await readWithheldSources(store)).map(({ name, deaths }) => [name, deaths])).toEqual([["a", 1]]);
  });

  it("reads nothing of the sources where nothing is held", async () => {
    const keys: string[] = [];
    const below = memoryStore();
    const store: ObjectStore = {
      ...below,
      get(key, options) {
        keys.push(key);
        return below.get(key, options);
      },
    };
    const told = { kind: "unchanged", version: "", generation: 1, diagnostics: [] } as const;
    const attempt = async () => ({ kind: "compiled", told }) as const;
    await createIsolatedCompile({ store, primary: "main", isHere: true, now: () => 0, attempt })(
      undefined,
      async () => {},
    );
    expect(keys).toEqual(["compile/held-sources"]);
  });
});

describe("a compile whose process ends", () => {
  it("is repeated without the newest change of the one source that has changed, and says so", async () => {
    const { fill, ask, deaths, served } = workshop();
    await fill("main", "shop");
    await fill("b", "good");
    await ask();
    await fill("b", "good", "bomb");
    const { said, diagnostics } = await ask();
    expect(said).toEqual(["error b"]);
    expect(diagnostics[0]?.message).toMatch(
      /^compiling version [0-9a-f]{12} of source b ended the compile process \(out of memory\); version [0-9a-f]{12} is compiled in its place; changed since: bomb\.yaml$/,
    );
    expect([deaths(), await served()]).toEqual([1, ["shop", "good"]]);
  });

  it("ends no other process for the same version, and publishes what other sources bring", async () => {
    const { fill, ask, restarted, deaths, served } = workshop();
    await fill("main", "shop");
    await ask();
    await fill("b", "bomb");
    await ask();
    await fill("main", "shop", "more");
    expect(await ask()).toMatchObject({ kind: "published", said: ["error b"] });
    expect(await restarted()()).toMatchObject({ kind: "unchanged", said: ["error b"] });
    expect([deaths(), await served()]).toEqual([1, ["more", "shop"]]);
  });

  it("publishes every good change beside a bad one, one source after the other", async () => {
    const { fill, ask, deaths, waits, served } = workshop();
    await fill("main", "shop");
    await fill("a", "old");
    await fill("b", "old");
    await ask();
    await fill("main", "shop", "new");
    await fill("a", "bomb");
    await fill("b", "newer");
    expect(await ask()).toMatchObject({ kind: "published", said: ["warning a", "warning b"] });
    expect(waits()).toBe(1);
    // The next compile tries `a`, which ends another process, and then `b`.
    expect((await ask()).said).toEqual(["error a"]);
    expect([deaths(), await served()]).toEqual([2, ["new", "shop", "old", "newer"]]);
  });

  it("compiles a source again once it has changed", async () => {
    const { fill, ask, deaths, served, store } = workshop();
    await fill("main", "shop");
    await ask();
    await fill("b", "bomb");
    await ask();
    await fill("b", "mended");
    expect(await ask()).toMatchObject({ kind: "published", said: [] });
    expect([deaths(), await served()]).toEqual([1, ["shop", "mended"]]);
    expect(await readWithheldSources(store)).toHaveLength(1);
  });

  it("tries a version again after ten minutes, and then after twenty", async () => {
    const { fill, ask, deaths, passMs } = workshop();
    await fill("main", "shop");
    await ask();
    await fill("b", "bomb");
    const minutes = [0, 9, 2, 15, 6];
    const seen: number[] = [];
    for (const wait of minutes) {
      passMs(wait * 60_000);
      await ask();
      seen.push(deaths());
    }
    expect(seen).toEqual([1, 1, 2, 2, 3]);
  });

  it("leaves out another source that was never published, and publishes nothing without the primary one", async () => {
    const { fill, ask, served } = workshop();
    await fill("main", "bomb");
    await fill("b", "good");
    await expect(ask()).rejects.toThrow("no version of the primary source main was ever published");
    expect(await served()).toEqual([]);
    await fill("main", "shop");
    await fill("b", "bomb");
    // Each of the two is tried alone, one compile after the other.
    await ask();
    expect((await ask()).said).toEqual(["error b"]);
    expect(await served()).toEqual(["shop"]);
  });

  it("fails where no source has changed since what is served", async () => {
    const store = memoryStore();
    await writeShard(store, "main", [entry("shop")]);
    await createRecompiler({ store })();
    const compile = createIsolatedCompile({
      store,
      primary: "main",
      now: () => 0,
      onWaiting: () => {},
      attempt: async () => ({ kind: "ended", reason: "killed" }),
    });
    await expect(compile(undefined, async () => {})).rejects.toThrow(
      "ended before it was done (killed); HEAD is as it was",
    );
    expect(await readWithheldSources(store)).toEqual([]);
  });

  it("holds back the source of a compile that took too long twice, and of no other", async () => {
    const { fill, ask, store, served } = workshop();
    await fill("main", "shop");
    await ask();
    await fill("b", "slow");
    let late = new AbortController();
    const slow = createIsolatedCompile({
      store,
      primary: "main",
      now: () => 1_000_000,
      onWaiting: () => {},
      attempt: async () => {
        late.abort();
        return { kind: "ended", reason: "it took too long" };
      },
    });
    const askLate = () => slow(undefined, async () => {}, late.signal);
    await expect(askLate()).rejects.toThrow("it took too long");
    expect(await readWithheldSources(store)).toEqual([]);
    late = new AbortController();
    await expect(askLate()).rejects.toThrow("it took too long");
    expect((await ask()).said).toEqual(["error b"]);
    expect(await served()).toEqual(["shop"]);
  });
});
