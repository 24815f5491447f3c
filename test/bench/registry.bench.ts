/** The service plane: a mesh from parsed objects to the model, and one endpoint, pod and service changed in it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultMeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../lib/config/kinds/mesh-networks.ts";
import { createMemo } from "../../lib/mesh/memo.ts";
import { buildRegistry } from "../../lib/registry/build-registry.ts";
import type { KubernetesObject } from "../../lib/registry/kubernetes/object.ts";
import type { RegistryInput } from "../../lib/registry/registry-input.ts";
import { time, withRatio, yardstick } from "./yardstick.ts";

const generator = new URL("../../../shared/bench/mesh-gen.mjs", import.meta.url);

/** The objects of the synthetic mesh of so many services, parsed. */
function meshObjects(services: number): readonly KubernetesObject[] {
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    execFileSync(process.execPath, [fileURLToPath(generator), "--services", String(services), "--out", folder]);
    const documents = readFileSync(join(folder, "input.yaml"), "utf8").split("\n---\n");
    return documents.map((text, line) => {
      const object = JSON.parse(text);
      const { kind, metadata } = object;
      const key = { kind, name: metadata.name, namespace: metadata.namespace ?? "" };
      return { ...object, origin: { key, file: "input.yaml", line } };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function inputOf(objects: readonly KubernetesObject[]): RegistryInput {
  return {
    clusters: [{ id: "Kubernetes", objects }],
    configs: [],
    meshConfig: defaultMeshConfig,
    meshNetworks: noMeshNetworks,
    domain: "cluster.local",
  };
}

/** A mesh under a memo whose objects are edited one after another. */
function editor(objects: readonly KubernetesObject[]) {
  const memo = createMemo();
  let current = objects;
  let edits = 0;
  buildRegistry(inputOf(current), memo);
  return (kind: string, edit: (object: KubernetesObject, count: number) => KubernetesObject) => {
    const places = current.flatMap((object, at) => (object.kind === kind ? [at] : []));
    const at = places[Math.floor(places.length / 2)] ?? 0;
    return () => {
      edits += 1;
      current = current.map((object, place) => (place === at ? edit(object, edits) : object));
      const input = inputOf(current);
      const start = performance.now();
      buildRegistry(input, memo);
      return performance.now() - start;
    };
  };
}

function relabelled(object: KubernetesObject, count: number): KubernetesObject {
  const labels = { ...Object(object.metadata.labels), edition: String(count) };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** The slice with its first endpoint ready or not, in turns. */
function flapped(slice: KubernetesObject, count: number): KubernetesObject {
  const [first, ...others] = Array.isArray(slice.endpoints) ? slice.endpoints : [];
  return { ...slice, endpoints: [{ ...first, conditions: { ready: count % 2 === 0, terminating: false } }, ...others] };
}

function median(run: () => number, rounds = 41): number {
  const samples = Array.from({ length: rounds }, run).slice(10);
  return samples.sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
}

/** Prints the figures, a line each. */
export async function registryBench(print: (line: string) => void = console.log): Promise<void> {
  const yard = await yardstick();
  print(`yardstick: ${yard.medianMs.toFixed(1)} ms`);
  for (const services of [100, 1000, 5000]) {
    const objects = meshObjects(services);
    const input = inputOf(objects);
    const { medianMs, minMs } = await time(() => buildRegistry(input), 5);
    print(
      `registry: ${services} services, ${objects.length} objects, objects to model: ${withRatio(medianMs, yard)}, best ${minMs.toFixed(0)} ms`,
    );
    const edit = editor(objects);
    const endpoint = median(edit("EndpointSlice", flapped));
    const pod = median(edit("Pod", relabelled));
    const service = median(edit("Service", relabelled));
    print(
      `registry: ${services} services, one changed: endpoint ${endpoint.toFixed(2)} ms, pod ${pod.toFixed(2)} ms, service ${service.toFixed(2)} ms`,
    );
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    const state = buildRegistry(input, createMemo()).value;
    globalThis.gc?.();
    const heap = (process.memoryUsage().heapUsed - before) / 2 ** 20;
    print(
      `registry: ${services} services, heap of the model beside its objects: ${heap.toFixed(1)} MiB${globalThis.gc === undefined ? " (run node with --expose-gc)" : ""}, ${state.services.length} services`,
    );
  }
}
