import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import type { Stage } from "../../../lib/base/diagnostic.ts";
import { workloadProxies } from "../../../lib/compile/workload-proxies.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles, type SourceFile } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import type { WorkloadProxy } from "../../../lib/mesh/proxy/proxy-of-workload.ts";
import { asJson, isArray, isObject } from "../../conformance/json.ts";

/** A pod as it was left in a cluster. */
export const podText = (name: "injected-sidecar" | "native-sidecar" | "gateway"): string =>
  readFileSync(join(import.meta.dirname, `${name}.yaml`), "utf8");

/** A pod that says it has a sidecar, and nothing of it but what its annotations and labels say. */
export function bare(
  name: string,
  annotations: Readonly<Record<string, string>> = {},
  labels: Readonly<Record<string, string>> = {},
): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "shop", labels: { "security.istio.io/tlsMode": "istio", ...labels }, annotations },
    spec: { serviceAccountName: name, containers: [{ name: "app" }] },
    status: { podIP: "10.1.2.9", hostIP: "192.0.2.7" },
  };
}

/** An object of Istio's networking API. */
export const networking = (kind: string, name: string, spec: object, metadata: object = {}): object => ({
  apiVersion: kind === "ProxyConfig" ? "networking.istio.io/v1beta1" : "networking.istio.io/v1",
  kind,
  metadata: { name, namespace: "shop", ...metadata },
  spec,
});

/** A pod's text as an object without what injection adds: the proxy's containers, and labels that are not its owner's. */
export function beforeInjection(text: string, ...added: readonly string[]): object {
  const pod = asJson(load(text));
  if (!isObject(pod) || !isObject(pod.spec) || !isObject(pod.metadata) || !isObject(pod.metadata.labels))
    throw new Error("the text is no pod");
  const { initContainers: _init, ...spec } = pod.spec;
  const containers = isArray(spec.containers) ? spec.containers : [];
  const apps = containers.filter((container) => !isObject(container) || container.name !== "istio-proxy");
  const labels = Object.entries(pod.metadata.labels).filter(([key]) => !added.includes(key));
  return {
    ...pod,
    spec: { ...spec, containers: apps },
    metadata: { ...pod.metadata, labels: Object.fromEntries(labels) },
  };
}

/** The files of a world: objects and texts, and the mesh's settings. */
export function filesOf(objects: readonly (object | string)[], mesh = ""): readonly SourceFile[] {
  const texts = objects.map((object) => (typeof object === "string" ? object : JSON.stringify(object)));
  return [
    { file: "input.yaml", text: `${texts.join("\n---\n")}\n` },
    { file: "mesh.yaml", text: `${mesh || "{}"}\n` },
  ];
}

/** The proxies of a world, and what is said of their workloads. */
export function census(objects: readonly (object | string)[], mesh = ""): Stage<readonly WorkloadProxy[]> {
  const loaded = readFiles(filesOf(objects, mesh));
  const refused = loaded.diagnostics.filter(({ severity }) => severity === "error");
  if (refused.length > 0) throw new Error(refused.map(({ message }) => message).join("\n"));
  const { registry } = worldOf(loaded, defaultWorldOptions, createMemo()).value;
  const { domain } = defaultWorldOptions;
  return workloadProxies(registry.workloads, { ...loaded, domain }, createMemo());
}

/** The only proxy of a world. */
export function only(objects: readonly (object | string)[], mesh = ""): WorkloadProxy {
  const [proxy, ...others] = census(objects, mesh).value;
  if (proxy === undefined || others.length > 0) throw new Error("this world does not have one proxy");
  return proxy;
}
