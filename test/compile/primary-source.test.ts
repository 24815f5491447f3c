import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { createCollector } from "../../lib/collect/collector.ts";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { FakeOrigin, thing } from "../collect/fake-origin.ts";

const service = (name: string) =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, namespace: shop}\nspec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}\n`;
const strict = "outboundTrafficPolicy: {mode: REGISTRY_ONLY}\ntrustDomain: shop.example\n";
const open = "outboundTrafficPolicy: {mode: ALLOW_ANY}\ntrustDomain: evil.example\n";
const older =
  'compat: {release: "1.31", switches: {PILOT_ENABLE_ALPHA_GATEWAY_API: true}}\ngatewayApi: {classNames: [x]}\n';

/** Fills a source with a folder. */
async function fill(store: ObjectStore, source: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
  const all = { "a.yaml": service(source), ...files };
  await createShardWriter(store, source)(Object.entries(all).map(([file, text]) => ({ file, text })));
}

/** Fills a source as a collector of a cluster does. */
async function collect(store: ObjectStore, source: string, mesh: string, cluster = source): Promise<void> {
  const origin = new FakeOrigin(["all"], cluster);
  const collector = createCollector({ store, source, origin });
  const done = collector.once();
  await origin.following;
  const settings = {
    key: "ConfigMap/istio-system/istio",
    version: "1",
    object: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "istio", namespace: "istio-system" },
      data: { mesh },
    },
  };
  origin.whole("all", [thing(source, "1", { spec: { clusterIP: "10.0.0.1" } }), settings]);
  await done;
}

/** The settings that count, and where others are refused. */
async function settings(store: ObjectStore, sources?: readonly string[]) {
  const recompile = createWorldRecompiler({ store, ...(sources === undefined ? {} : { sources }) });
  try {
    const { compiled, diagnostics } = await recompile();
    const { meshConfig, settings } = compiled.loaded;
    return {
      mesh: `${meshConfig.outboundTrafficPolicy.mode} ${meshConfig.trustDomain}`,
      release: settings.compat?.release ?? "default",
      alpha: settings.compat?.switches?.PILOT_ENABLE_ALPHA_GATEWAY_API ?? false,
      refused: refusedIn(diagnostics),
    };
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return { message: cause.message.split(":")[0], refused: refusedIn(cause.diagnostics) };
  }
}

const refusedIn = (diagnostics: PortolanError["diagnostics"]) =>
  diagnostics
    .filter(({ code }) => code === "settings-not-primary")
    .map(({ origin: { file, line }, severity, hint }) => `${severity} ${file}:${line} ${hint.includes("--primary")}`);

const usual = { mesh: "ALLOW_ANY cluster.local", release: "default", alpha: false };

describe("settings of a mesh with several sources", () => {
  it("are the defaults while the named primary is not filled, whatever another source says", async () => {
    const store = memoryStore();
    await fill(store, "b", { "mesh.yaml": open, "portolan.yaml": older });
    const refused = ["error mesh.yaml:1 true", "error portolan.yaml:1 true"];
    expect(await settings(store, ["main", "b"])).toEqual({ ...usual, refused });
    await fill(store, "main", { "mesh.yaml": strict });
    expect(await settings(store)).toEqual({
      ...usual,
      mesh: "REGISTRY_ONLY shop.example",
      refused: ["error b/mesh.yaml:1 true", "error b/portolan.yaml:1 true"],
    });
  });

  it("are those of the named primary, though another source comes first by its name", async () => {
    const store = memoryStore();
    await fill(store, "main", { "mesh.yaml": open });
    await fill(store, "z", { "mesh.yaml": strict, "portolan.yaml": older });
    expect(await settings(store, ["z"])).toEqual({
      mesh: "REGISTRY_ONLY shop.example",
      release: "1.31",
      alpha: true,
      refused: ["error main/mesh.yaml:1 true"],
    });
  });

  it("are those of the only source where none is named", async () => {
    const store = memoryStore();
    await fill(store, "b", { "mesh.yaml": strict, "portolan.yaml": older });
    expect(await settings(store)).toEqual({
      mesh: "REGISTRY_ONLY shop.example",
      release: "1.31",
      alpha: true,
      refused: [],
    });
  });

  it("stop a publish where none is named and a second source could decide them by its name", async () => {
    const store = memoryStore();
    await fill(store, "b", { "mesh.yaml": strict });
    await fill(store, "a");
    expect(await settings(store)).toEqual({ message: "nothing was published", refused: ["error b/mesh.yaml:1 true"] });
    expect(await settings(store, ["b"])).toMatchObject({ mesh: "REGISTRY_ONLY shop.example", refused: [] });
  });

  it("are those of the only cluster where the primary source has none, and of no other", async () => {
    const store = memoryStore();
    await fill(store, "main");
    await collect(store, "kubernetes", strict);
    expect(await settings(store)).toMatchObject({ mesh: "REGISTRY_ONLY shop.example", refused: [] });
    await fill(store, "b", { "mesh.yaml": open });
    expect(await settings(store)).toMatchObject({
      mesh: "REGISTRY_ONLY shop.example",
      refused: ["error b/mesh.yaml:1 true"],
    });
    // A second cluster that comes first by its name takes nothing over.
    await collect(store, "east", open);
    expect(await settings(store)).toEqual({
      message: "nothing was published",
      refused: ["error b/mesh.yaml:1 true", "error source east:0 true", "error source kubernetes:0 true"],
    });
    expect(await settings(store, ["main", "kubernetes"])).toMatchObject({ mesh: "REGISTRY_ONLY shop.example" });
  });
});
