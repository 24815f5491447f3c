import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { generate } from "../../lib/xds/generate.ts";
import { resourceTypes } from "../../lib/xds/resource.ts";
import { nodeOfNamed } from "../named-proxy.ts";
import { hasShared, sharedFolder } from "../shared.ts";
import { lacks } from "../skip.ts";
import { wholeResources } from "../whole-resources.ts";
import { editEndpoint, editVirtualService } from "./edits.ts";
import { type SyntheticMesh, syntheticMesh } from "./synthetic-mesh.ts";

/** Objects by kind. */
function kindsOf({ text }: SyntheticMesh): Readonly<Record<string, number>> {
  const kinds = Map.groupBy(text.split("---\n"), (document): string => JSON.parse(document).kind);
  return Object.fromEntries([...kinds].map(([kind, objects]) => [kind, objects.length]));
}

/** How many resources of each type the sidecar and the gateway get. */
function resourcesOf({ text, named }: SyntheticMesh): readonly string[] {
  const memo = createMemo();
  const loaded = readFiles([{ file: "input.yaml", text }]);
  expect(loaded.diagnostics).toEqual([]);
  const world = worldOf(loaded, { ...defaultWorldOptions, compat: "istio", nodes: named.map(nodeOfNamed) }, memo).value;
  const mesh = buildMesh(world, memo).value;
  return world.proxies.slice(-named.length).map((proxy) => {
    const made = wholeResources(generate(mesh, proxy, memo).value);
    return `${proxy.type} ${resourceTypes.map((type) => made[type].length).join("/")}`;
  });
}

/** The mesh that Istio's figures were taken on. */
function measuredMesh(services: number): SyntheticMesh {
  const folder = mkdtempSync(join(tmpdir(), "portolan-mesh-"));
  const generator = fileURLToPath(new URL("bench/mesh-gen.mjs", sharedFolder));
  execFileSync(process.execPath, [generator, "--services", String(services), "--out", folder]);
  const [text = "", nodes = ""] = ["input.yaml", "nodes.json"].map((file) => readFileSync(join(folder, file), "utf8"));
  rmSync(folder, { recursive: true });
  return { text, named: JSON.parse(nodes) };
}

describe("the synthetic mesh", () => {
  it("has ten pods to a service, 50 services to a namespace, and one service in five that is split", () => {
    expect(kindsOf(syntheticMesh(1000))).toEqual({
      Node: 6,
      Namespace: 20,
      Service: 1001,
      Pod: 10_002,
      EndpointSlice: 1001,
      DestinationRule: 200,
      VirtualService: 200,
      Gateway: 1,
    });
  });

  it("gives the sidecar and the gateway as many resources as Istio's figures are about", () => {
    expect(resourcesOf(syntheticMesh(1000))[0]).toBe("sidecar 1404/1401/104/2");
  });

  it.skipIf(lacks(hasShared, "the measured mesh in ../shared"))("is of the shape of the mesh that was measured", () => {
    const [ours, theirs] = [syntheticMesh(200), measuredMesh(200)];
    expect(kindsOf(ours)).toEqual(kindsOf(theirs));
    expect(resourcesOf(ours)).toEqual(resourcesOf(theirs));
    expect(Math.abs(ours.text.length / theirs.text.length - 1)).toBeLessThan(0.05);
  });

  it("is the same for the same number", () => {
    expect(syntheticMesh(20)).toEqual(syntheticMesh(20));
  });

  it("has what the benchmarks edit", () => {
    const loaded = readFiles([{ file: "input.yaml", text: syntheticMesh(10).text }]);
    expect(editVirtualService(loaded, 1).configs).not.toEqual(loaded.configs);
    expect(editEndpoint(loaded, 1).objects).not.toEqual(loaded.objects);
    expect(syntheticMesh(10).text).toMatch(/"weight":90/);
  });
});
