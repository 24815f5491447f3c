/** The service plane: a mesh from parsed objects to the model, and one endpoint, pod and service changed in it. */
import { defaultMeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../lib/config/kinds/mesh-networks.ts";
import { buildRegistry, createRegistryBuilder } from "../../lib/registry/build-registry.ts";
import type { KubernetesObject } from "../../lib/registry/kubernetes/object.ts";
import type { RegistryInput } from "../../lib/registry/registry-input.ts";
import { heapMib } from "./heap.ts";
import type { BenchOptions } from "./report.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";
import { type Elapsed, elapsedIn, measure, roundsOf, timingRow } from "./yardstick.ts";

/** The objects of the synthetic mesh of so many services, parsed. */
function meshObjects(services: number): readonly KubernetesObject[] {
  const documents = syntheticMesh(services).text.split("\n---\n");
  return documents.map((text, line) => {
    const object = JSON.parse(text);
    const { kind, metadata } = object;
    const key = { kind, name: metadata.name, namespace: metadata.namespace ?? "" };
    return { ...object, origin: { key, file: "input.yaml", line } };
  });
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
  const build = createRegistryBuilder();
  let current = objects;
  let edits = 0;
  build(inputOf(current));
  return (kind: string, edit: (object: KubernetesObject, count: number) => KubernetesObject) => {
    const places = current.flatMap((object, at) => (object.kind === kind ? [at] : []));
    const at = places[Math.floor(places.length / 2)] ?? 0;
    return (_: number, start: () => () => Elapsed) => {
      edits += 1;
      current = current.map((object, place) => (place === at ? edit(object, edits) : object));
      const input = inputOf(current);
      return elapsedIn(() => build(input), start);
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

export async function registryBench({ report, yard, services, quick }: BenchOptions): Promise<void> {
  const rounds = roundsOf(quick, { warmUp: 5 });
  for (const size of services) {
    const objects = meshObjects(size);
    const input = inputOf(objects);
    const whole = measure((_, start) => elapsedIn(() => buildRegistry(input), start), roundsOf(quick, { measured: 5 }));
    const edit = editor(objects);
    report.table(`Registries of ${size} services, ${objects.length} objects`, [
      timingRow("objects to model", whole, yard),
      timingRow("one endpoint changed", measure(edit("EndpointSlice", flapped), rounds), yard),
      timingRow("one pod changed", measure(edit("Pod", relabelled), rounds), yard),
      timingRow("one service changed", measure(edit("Service", relabelled), rounds), yard),
    ]);
    const before = heapMib();
    const state = buildRegistry(input).value;
    const heap = heapMib() - before;
    report.line(`heap: ${heap.toFixed(1)} MiB for the model of ${state.services.length} services beside its objects`);
  }
}
