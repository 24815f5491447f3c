/**
 * From the registries' model to resources: mesh, views, classes and all four types, cold and after one change; beside
 * what Istio 1.30.3 takes for the same mesh (shared/bench/README.md).
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world-of.ts";
import type { Config } from "../../lib/config/config.ts";
import { type LoadedDirectory, readFiles } from "../../lib/config/directory.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { classify } from "../../lib/mesh/classify.ts";
import { createMemo, type Memo } from "../../lib/mesh/memo.ts";
import type { NamedProxy } from "../../lib/mesh/proxy-from-node.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type Timing, time, withRatio, yardstick } from "./yardstick.ts";

const generator = new URL("../../../shared/bench/mesh-gen.mjs", import.meta.url);

interface BenchMesh {
  readonly loaded: LoadedDirectory;
  /** One sidecar that sees everything, one gateway. */
  readonly named: readonly NamedProxy[];
}

function readMesh(services: number): BenchMesh {
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    execFileSync(process.execPath, [fileURLToPath(generator), "--services", String(services), "--out", folder]);
    const text = readFileSync(join(folder, "input.yaml"), "utf8");
    const named: readonly NamedProxy[] = JSON.parse(readFileSync(join(folder, "nodes.json"), "utf8"));
    return { loaded: readFiles([{ file: "input.yaml", text }]), named };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The world of a mesh with only these proxies, or with one for each pod. */
function worldFor(loaded: LoadedDirectory, named: readonly NamedProxy[] | "every pod", memo: Memo): World {
  const proxies = named === "every pod" ? [] : named;
  const world = worldOf(loaded, { ...defaultWorldOptions, compat: "istio", named: proxies }, memo).value;
  return named === "every pod" ? world : { ...world, proxies: world.proxies.slice(-named.length) };
}

/** Mesh, classes and every resource of every class: what a compile does between the world and the snapshot. */
function generateAll(world: World, memo: Memo): number {
  const mesh = buildMesh(world, memo).value;
  const { classes } = classify(mesh, world.proxies, memo).value;
  for (const { proxy } of classes) generate(mesh, proxy, memo);
  return classes.length;
}

type Edit = (loaded: LoadedDirectory, round: number) => LoadedDirectory;

/** Another timeout in one virtual service. */
const editVirtualService: Edit = (loaded, round) => {
  const at = loaded.configs.findIndex(({ meta }) => meta.kind === "VirtualService");
  const edited = (config: Config): Config => ({ ...config, spec: JSON.parse(changedTimeout(config.spec, round)) });
  return { ...loaded, configs: loaded.configs.map((config, place) => (place === at ? edited(config) : config)) };
};

const changedTimeout = (spec: unknown, round: number): string =>
  JSON.stringify(spec).replace(/"timeout":"\d+s"/, `"timeout":"${round + 10}s"`);

/** One endpoint less, or one more again. */
const editEndpoint: Edit = (loaded, round) => {
  const at = loaded.objects.findIndex(({ kind }) => kind === "EndpointSlice");
  return {
    ...loaded,
    objects: loaded.objects.map((object, place) => {
      if (place !== at || !Array.isArray(object.endpoints)) return object;
      const [first, ...others] = object.endpoints;
      return { ...object, endpoints: [{ ...first, conditions: { ready: round % 2 === 0 } }, ...others] };
    }),
  };
};

/** Median of what the compiler takes for one edit after another, registries left out. */
function afterEdits(mesh: BenchMesh, named: readonly NamedProxy[] | "every pod", edit: Edit): number {
  const memo = createMemo();
  let { loaded } = mesh;
  generateAll(worldFor(loaded, named, memo), memo);
  const samples = Array.from({ length: 9 }, (_, round) => {
    loaded = edit(loaded, round);
    const world = worldFor(loaded, named, memo);
    const start = performance.now();
    generateAll(world, memo);
    return performance.now() - start;
  });
  return samples.slice(2).sort((a, b) => a - b)[3] ?? 0;
}

/** Istio's figures, in ms: cold, and warm where its cache helps. */
const istio: ReadonlyMap<number, Readonly<Record<"context" | "sidecar" | "gateway" | "change", string>>> = new Map([
  [100, { context: "0.3", sidecar: "12 / 1.7", gateway: "11 / 1.2", change: "4.8 / 1.2" }],
  [1000, { context: "3.1", sidecar: "116 / 16", gateway: "109 / 17", change: "51 / 10" }],
  [5000, { context: "23", sidecar: "686 / 112", gateway: "587 / 67", change: "261 / 86" }],
]);

async function coldFigures(
  mesh: BenchMesh,
  services: number,
  yard: Timing,
  print: (line: string) => void,
): Promise<void> {
  const { loaded, named } = mesh;
  const world = worldFor(loaded, named, createMemo());
  const theirs = istio.get(services);
  const build = await time(() => buildMesh(world, createMemo()), 7, 3);
  print(`mesh: ${services} services, mesh: ${withRatio(build.medianMs, yard)}; Istio ${theirs?.context}`);
  for (const proxy of world.proxies) {
    const cold = await time(
      () => {
        const memo = createMemo();
        return generate(buildMesh(world, memo).value, proxy, memo);
      },
      7,
      3,
    );
    const istios = proxy.type === "router" ? theirs?.gateway : theirs?.sidecar;
    print(
      `mesh: ${services} services, mesh and one ${proxy.type}, all types: ${withRatio(cold.medianMs, yard)}; Istio ${istios}`,
    );
  }
}

/** Sidecars in so many namespaces, each of which sees everything. */
const fleet = (size: number): readonly NamedProxy[] =>
  Array.from({ length: size }, (_, at) => ({
    name: `client-${at}`,
    namespace: `ns-${at}`,
    type: "sidecar",
    ip: `10.17.1.${at}`,
    labels: { app: "client" },
  }));

/** Prints the figures, a line each. */
export async function meshBench(print: (line: string) => void = console.log): Promise<void> {
  const yard = await yardstick();
  print(`yardstick: ${yard.medianMs.toFixed(1)} ms`);
  for (const services of [100, 1000, 5000]) {
    const mesh = readMesh(services);
    await coldFigures(mesh, services, yard, print);
    const virtualService = afterEdits(mesh, mesh.named, editVirtualService);
    const endpoint = afterEdits(mesh, mesh.named, editEndpoint);
    print(
      `mesh: ${services} services, one changed, both proxies: VirtualService ${virtualService.toFixed(1)} ms, endpoint ${endpoint.toFixed(1)} ms; Istio ${istio.get(services)?.change} for one proxy`,
    );
  }
  const thousand = readMesh(1000);
  const seeing = await time(
    () => {
      const memo = createMemo();
      return generateAll(worldFor(thousand.loaded, fleet(20), memo), memo);
    },
    3,
    1,
  );
  print(
    `mesh: 1000 services, 20 sidecars in 20 namespaces that see everything, registries included: ${seeing.medianMs.toFixed(0)} ms; Istio 3880 / 336`,
  );
  const memo = createMemo();
  const world = worldFor(thousand.loaded, "every pod", memo);
  const start = performance.now();
  const classes = generateAll(world, memo);
  const everyone = performance.now() - start;
  const change = afterEdits(thousand, "every pod", editVirtualService);
  print(
    `mesh: 1000 services, ${world.proxies.length} pods in ${classes} classes: ${everyone.toFixed(0)} ms; one VirtualService changed: ${change.toFixed(0)} ms`,
  );
}
