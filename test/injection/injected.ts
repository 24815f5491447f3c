import { type Fields, fieldsOf, listOf } from "../../lib/base/untyped.ts";
import { defaultMeshConfig, type MeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { readMeshConfig } from "../../lib/config/read-mesh-config.ts";
import { injectPod } from "../../lib/injection/inject-pod.ts";
import { annotationsOf, labelsOf, type Pod, podOf } from "../../lib/injection/pod.ts";
import { readInjectionValues } from "../../lib/injection/values.ts";

export interface Given {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly values?: object;
  /** Of `mesh.yaml`. */
  readonly mesh?: string;
}

/** A pod of one container, as its author wrote it. */
export const written = ({ labels = {}, annotations = {}, spec = {} }: Given): Pod =>
  podOf({ metadata: { labels, annotations }, spec: { containers: [{ name: "web", image: "web:1" }], ...spec } });

export const meshOf = (text: string | undefined): MeshConfig =>
  text === undefined ? defaultMeshConfig : readMeshConfig(text).value;

/** The pod of Deployment shop/web with a proxy. */
export const injectedPod = (given: Given, pod = written(given)): Pod =>
  injectPod(pod, {
    values: readInjectionValues(given.values ?? {}, "values"),
    meshConfig: meshOf(given.mesh),
    layers: { mesh: undefined, namespace: undefined, workload: undefined },
    owner: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    namespace: "shop",
  });

/** What tests look at: containers by name, their order, variables of the proxy as texts. */
export function looked(pod: Pod) {
  const inits = listOf(pod.spec.initContainers).map(fieldsOf);
  const containers = listOf(pod.spec.containers).map(fieldsOf);
  const byName = (name: string): Fields => [...inits, ...containers].find((one) => one.name === name) ?? {};
  const variables = listOf(byName("istio-proxy").env).map(fieldsOf);
  return {
    inits: inits.map(({ name }) => name),
    containers: containers.map(({ name }) => name),
    labels: labelsOf(pod),
    annotations: annotationsOf(pod),
    container: byName,
    proxy: byName("istio-proxy"),
    variable: (name: string) => variables.find((one) => one.name === name)?.value,
    args: listOf(byName("istio-init").args),
  };
}
