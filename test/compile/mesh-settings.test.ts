import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import type { Fields } from "../../lib/base/untyped.ts";
import { createCollector } from "../../lib/collect/collector.ts";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { prometheusObserver } from "../../lib/compile/telemetry/prometheus.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import type { OriginObject } from "../../lib/registry/origin/origin.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { refusalsIn, toldWithInstead } from "../../lib/snapshot/nodes/refusals.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { FakeOrigin, gone, put, thing } from "../collect/fake-origin.ts";

const service: SourceFile = {
  file: "a.yaml",
  text: "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: shop}\nspec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}\n",
};
const good = "outboundTrafficPolicy: {mode: REGISTRY_ONLY}\ntrustDomain: shop.example\nconnectTimeout: 5s\n";
/** One field is a slip, another is changed on purpose. */
const slip =
  "outboundTrafficPolicy: {mode: REGISTRY_ONLY}\ntrustDomain: shop.example\nconnectTimeout: 10 seconds\nenableTracing: false\n";
const broken = "outboundTrafficPolicy: {mode: REGISTRY_ONLY\ntrustDomain: other.example\n";
const other = `${good}enableTracing: false\n`;

/** What a process that has just started compiles and publishes: the settings that it goes by, and what it says of them. */
async function compiled(store: ObjectStore, recompile = createWorldRecompiler({ store })) {
  const { compiled: world, diagnostics } = await recompile();
  const { outboundTrafficPolicy, trustDomain, connectTimeout, enableTracing } = world.loaded.meshConfig;
  const said = diagnostics
    .filter(({ code }) => code !== "endpoints-unknown")
    .map(({ severity, code }) => `${severity} ${code}`)
    .sort();
  return { settings: [outboundTrafficPolicy.mode, trustDomain, connectTimeout, enableTracing], said };
}

const refusal = (compile: Promise<unknown>): Promise<unknown> =>
  compile.then(
    () => "compiled",
    (cause: unknown) =>
      cause instanceof PortolanError
        ? [cause.message, cause.diagnostics.map(({ severity, code }) => `${severity} ${code}`)]
        : cause,
  );

const unusable = (code: string) => [
  "nothing was published: settings have errors, and none were valid before; correct them",
  [`error ${code}`],
];

/** Fills a source with settings, one text after the other. */
interface Source {
  readonly store: ObjectStore;
  set(mesh: string | undefined): Promise<void>;
  /** Goes on as a process that was started anew. */
  restart(): void;
}

function folder(): Source {
  const store = memoryStore();
  let write = createShardWriter(store, "main");
  return {
    store,
    async set(text) {
      await write(text === undefined ? [service] : [service, { file: "mesh.yaml", text }]);
    },
    restart() {
      write = createShardWriter(store, "main");
    },
  };
}

const settings = (mesh: string): OriginObject => configMap({ mesh });
const configMap = (data: Fields): OriginObject => ({
  key: "ConfigMap/istio-system/istio",
  version: "1",
  object: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "istio", namespace: "istio-system" },
    data,
  },
});
const served = thing("a", "1", { spec: { clusterIP: "10.0.0.1", ports: [{ name: "http", port: 80 }] } });

/** A cluster with a collector that tells it whole, or goes on following it. */
interface Cluster extends Source {
  /** The ConfigMap has this data. */
  tell(data: Fields): Promise<void>;
}

function cluster(): Cluster {
  const store = memoryStore();
  const fill = async (...settings: readonly OriginObject[]) => {
    const origin = new FakeOrigin();
    const collector = createCollector({ store, source: "main", origin });
    const done = collector.once();
    await origin.following;
    origin.whole("all", [served, ...settings]);
    await done;
  };
  return {
    store,
    set: (text) => (text === undefined ? fill() : fill(settings(text))),
    tell: (data) => fill(configMap(data)),
    restart() {},
  };
}

describe.each([
  ["a folder", folder],
  ["a collected cluster", cluster],
])("the mesh's settings of %s", (_what, open) => {
  it("keep the last valid value of a field with an error, and take what else is changed", async () => {
    const source = open();
    await source.set(good);
    const recompile = createWorldRecompiler({ store: source.store });
    const before = (await compiled(source.store, recompile)).settings;
    expect(before.slice(0, 3)).toEqual(["REGISTRY_ONLY", "shop.example", "5s"]);
    await source.set(slip);
    const warm = await compiled(source.store, recompile);
    expect(warm.settings).toEqual(["REGISTRY_ONLY", "shop.example", "5s", false]);
    expect(warm.said).toEqual(["error invalid-value", "warning last-valid-served"]);
    // A cold process, and a writer that was started anew, come to the same.
    expect(await compiled(source.store)).toEqual(warm);
    source.restart();
    await source.set(`${slip}# again\n`);
    expect(await compiled(source.store)).toEqual(warm);
    await source.set(other);
    expect(await compiled(source.store)).toEqual({ settings: warm.settings, said: [] });
  });

  it("are told of with what is served in their place", async () => {
    const source = open();
    await source.set(good);
    const recompile = createWorldRecompiler({ store: source.store });
    await recompile();
    for (const text of [slip, broken]) {
      await source.set(text);
      const refused = refusalsIn((await recompile()).diagnostics);
      expect(refused.map(({ instead }) => instead)).toEqual(["last-valid"]);
      expect(refused.map((one) => toldWithInstead(one).message)).toEqual([
        expect.stringMatching(/; the last valid settings are served$/),
      ]);
    }
  });

  it("stay as they were where their text cannot be read at all", async () => {
    const source = open();
    await source.set(good);
    const before = (await compiled(source.store)).settings;
    await source.set(broken);
    expect(await compiled(source.store)).toEqual({
      settings: before,
      said: ["error unreadable-document", "warning last-valid-served"],
    });
  });

  it("have nothing published where none were valid yet, and are published when they are", async () => {
    for (const [text, code] of [
      [slip, "invalid-value"],
      [broken, "unreadable-document"],
    ] as const) {
      const source = open();
      await source.set(text);
      expect(await refusal(compiled(source.store))).toEqual(unusable(code));
      expect(await readHead(source.store)).toBeUndefined();
      await source.set(good);
      expect((await compiled(source.store)).settings.slice(0, 2)).toEqual(["REGISTRY_ONLY", "shop.example"]);
    }
  });
});

describe("the mesh's settings of a folder", () => {
  it("are the defaults again when they are taken out, and what they were is forgotten", async () => {
    const source = folder();
    await source.set(good);
    await source.set(undefined);
    expect((await compiled(source.store)).settings.slice(0, 2)).toEqual(["ALLOW_ANY", "cluster.local"]);
    await source.set(broken);
    expect(await refusal(compiled(source.store))).toEqual(unusable("unreadable-document"));
  });
});

describe("the mesh's settings of a collected cluster", () => {
  const kept = ["REGISTRY_ONLY", "shop.example", "5s"];
  const misspelt = good.replace("outboundTrafficPolicy", "outboundTrafficPolcy");

  it.each([
    ["the ConfigMap", (source: Cluster) => source.set(undefined)],
    ["the name of their key", (source: Cluster) => source.tell({ mseh: good })],
    ["their text", (source: Cluster) => source.set("  \n")],
    ["a value for their text", (source: Cluster) => source.set("null # connectTimeout: 5s\n")],
  ])("stay as they were last valid without %s, until {} says that the defaults are meant", async (_what, lose) => {
    const source = cluster();
    await source.set(good);
    const recompile = createWorldRecompiler({ store: source.store });
    await compiled(source.store, recompile);
    await lose(source);
    const warm = await compiled(source.store, recompile);
    expect(warm.settings.slice(0, 3)).toEqual(kept);
    expect(warm.said).toEqual(["error missing-field", "warning last-valid-served"]);
    await lose(source);
    expect(await compiled(source.store)).toEqual(warm);
    await source.set(broken);
    expect((await compiled(source.store)).settings.slice(0, 3)).toEqual(kept);
    await source.set("{}");
    await lose(source);
    const after = await compiled(source.store);
    expect([after.settings.slice(0, 2), after.said]).toEqual([["ALLOW_ANY", "cluster.local"], []]);
  });

  it("are the defaults where there never was a ConfigMap, or none that said anything", async () => {
    const source = cluster();
    await source.set(undefined);
    expect((await compiled(source.store)).said).toEqual([]);
    await source.set("");
    expect((await compiled(source.store)).said).toEqual([]);
    await source.set(undefined);
    expect((await compiled(source.store)).said).toEqual([]);
  });

  it("keep networks that are gone, and let them go where none are said to be there", async () => {
    const source = cluster();
    const networks = "networks: {n: {endpoints: [{fromRegistry: Kubernetes}]}}";
    await source.tell({ mesh: good, meshNetworks: networks });
    await source.tell({ mesh: good });
    expect((await compiled(source.store)).said).toEqual(["error missing-field", "warning last-valid-served"]);
    await source.tell({ mesh: good, meshNetworks: "networks: {}" });
    await source.tell({ mesh: good });
    expect((await compiled(source.store)).said).toEqual([]);
  });

  it.each([
    ["a field", misspelt, "outboundTrafficPolicy"],
    ["a field within a field", good.replace("mode:", "mod:"), "mode"],
  ])("keep what goes as an unknown name for %s comes, and say what was meant", async (_what, text, meant) => {
    const source = cluster();
    await source.set(good);
    for (let turn = 0; turn < 2; turn += 1) {
      await source.set(`${text}enableTracing: false\n${"# again\n".repeat(turn)}`);
      const { settings, said } = await compiled(source.store);
      expect(settings).toEqual([...kept, false]);
      expect(said).toEqual(["error unknown-field", "warning last-valid-served"]);
    }
    const { diagnostics } = await createWorldRecompiler({ store: source.store })();
    expect(diagnostics.find(({ code }) => code === "unknown-field")?.hint).toBe(
      `did you mean "${meant}"? what is gone beside it (${meant}) stays as it was last valid; if both are meant, make them one after the other`,
    );
  });

  it("take an unknown field that nothing went with for one of a newer Istio, and what goes afterwards, too", async () => {
    const source = cluster();
    await source.set(good);
    await source.set(`${good}newerField: {a: 1}\n`);
    expect((await compiled(source.store)).said).toEqual(["warning unknown-field"]);
    await source.set("trustDomain: shop.example\nnewerField: {a: 2}\n");
    const { settings, said } = await compiled(source.store);
    expect([settings.slice(0, 2), said]).toEqual([["ALLOW_ANY", "shop.example"], ["warning unknown-field"]]);
  });
});

describe("a file of settings that cannot be opened", () => {
  const unreadable = { file: "mesh.yaml", text: "", problem: "permission denied" };

  it("has nothing published where it never could be, and changes nothing where it could", async () => {
    const store = memoryStore();
    const write = createShardWriter(store, "main");
    await write([service, unreadable]);
    expect(await refusal(compiled(store))).toEqual(unusable("unreadable-file"));
    await write([service, { file: "mesh.yaml", text: good }]);
    const before = (await compiled(store)).settings;
    await write([service, unreadable]);
    expect((await compiled(store)).settings).toEqual(before);
  });
});

describe("errors of the mesh's settings", () => {
  it("are counted by themselves for whoever is to be woken, until they are corrected", async () => {
    const { store, set } = folder();
    const registry = new Registry();
    const recompile = createWorldRecompiler({ store, observer: prometheusObserver(registry) });
    const counted = async (text: string) => {
      await set(text);
      await recompile();
      return (await registry.getSingleMetricAsString("portolan_mesh_settings_errors")).split("\n").at(-1);
    };
    expect(await counted(good)).toBe("portolan_mesh_settings_errors 0");
    expect(await counted(slip)).toBe("portolan_mesh_settings_errors 1");
    expect(await counted(other)).toBe("portolan_mesh_settings_errors 0");
  });
});

describe("a collector that goes on following a cluster", () => {
  it("keeps the settings that were valid last, whatever follows, be the ConfigMap gone", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const pushed: number[] = [];
    const stop = new AbortController();
    const pace = { pause: () => new Promise<void>((resolve) => setImmediate(resolve)), backOff: () => 0 };
    const collector = createCollector({
      store,
      source: "main",
      origin,
      gatherMs: 0,
      pace,
      pushed: ({ changes }) => void pushed.push(changes),
    });
    const running = collector.run(stop.signal);
    await origin.following;
    const until = async (pushes: number) => {
      while (pushed.length < pushes) await new Promise((resolve) => setImmediate(resolve));
    };
    origin.whole("all", [served, settings(good)]);
    await until(1);
    origin.changed("all", put(settings(slip)));
    await until(2);
    origin.changed("all", put(settings(broken)));
    await until(3);
    expect((await compiled(store)).settings.slice(0, 3)).toEqual(["REGISTRY_ONLY", "shop.example", "5s"]);
    origin.changed("all", put(thing("b", "1", served.object.spec === undefined ? {} : { spec: served.object.spec })));
    await until(4);
    expect((await compiled(store)).settings.slice(0, 3)).toEqual(["REGISTRY_ONLY", "shop.example", "5s"]);
    origin.changed("all", gone(settings(broken)));
    await until(5);
    expect((await compiled(store)).settings.slice(0, 3)).toEqual(["REGISTRY_ONLY", "shop.example", "5s"]);
    // What is told of a push are the origin's own objects.
    expect(pushed.slice(1)).toEqual([1, 1, 1, 1]);
    stop.abort();
    await running;
  });
});
