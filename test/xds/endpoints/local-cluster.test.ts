import { describe, expect, it } from "vitest";
import { fieldsOf, listOf, textOf } from "../../../lib/base/untyped.ts";
import { compile } from "../../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { resourcesIn } from "../../../lib/snapshot/compiled.ts";

interface PodOptions {
  readonly app?: string;
  readonly hash?: string;
  /** Node that it runs on; "": one that is not described. */
  readonly node?: string;
  readonly ready?: boolean;
}

const settings = JSON.stringify('proxyMetadata: {ISTIO_META_ENABLE_SELF_DISCOVERY: "true"}');

/** A pod of the service `web`, and its place in the slice. */
function pod(address: string, { app = "web", hash = "a", node = "eu-1", ready = true }: PodOptions = {}) {
  const name = `${app}-${hash}-${address.replaceAll(".", "-")}`;
  return {
    object: `
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  generateName: ${app}-${hash}-
  namespace: shop
  labels: {service: web, pod-template-hash: ${hash}, security.istio.io/tlsMode: istio}
  annotations: {proxy.istio.io/config: ${settings}}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: ${app}-${hash}, controller: true}]
spec: {nodeName: "${node}", containers: [{name: app, image: app}]}
status: {phase: Running, podIP: ${address}, conditions: [{type: Ready, status: "${ready ? "True" : "False"}"}]}`,
    entry: `{addresses: [${address}], nodeName: "${node}", conditions: {ready: ${ready}, serving: ${ready}, terminating: false}, targetRef: {kind: Pod, name: ${name}, namespace: shop}}`,
  };
}

const nodes = ["eu-1", "eu-2", "us-1"].map(
  (name) => `
apiVersion: v1
kind: Node
metadata: {name: ${name}, labels: {topology.kubernetes.io/region: ${name.slice(0, 2)}, topology.kubernetes.io/zone: ${name}}}`,
);

/** Addresses of the local cluster of the pod at 10.1.0.1, `-` before those that are not healthy. */
function neighbours(pods: readonly ReturnType<typeof pod>[], more = ""): readonly string[] {
  const service = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.0.0.1, selector: {service: web}, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [${pods.map(({ entry }) => entry).join(", ")}]
ports: [{name: http, port: 80}]`;
  const text = [...nodes, service, ...pods.map(({ object }) => object), more].join("\n---");
  const world = worldOf(readFiles([{ file: "a.yaml", text }]), defaultWorldOptions, createMemo()).value;
  const first = world.proxies.find(({ addresses }) => addresses[0] === "10.1.0.1");
  if (first === undefined) throw new Error("the pod at 10.1.0.1 has a proxy");
  // Beside the proxy's own there are the classes of unknown proxies, which ask for no local cluster.
  const { classes } = compile({ ...world, proxies: [first] }, [], createMemo()).value;
  const found = classes
    .flatMap(({ stream }) => resourcesIn(stream.endpoints))
    .find(({ name }) => name === "local_cluster");
  return listOf(fieldsOf(JSON.parse(found?.text ?? "{}")).endpoints)
    .flatMap((group) => listOf(fieldsOf(group).lbEndpoints))
    .map((member) => {
      const { endpoint, healthStatus } = fieldsOf(member);
      const address = textOf(fieldsOf(fieldsOf(fieldsOf(endpoint).address).socketAddress).address);
      return `${textOf(healthStatus) === "UNHEALTHY" ? "-" : ""}${address}`;
    })
    .toSorted();
}

describe("the local cluster of a proxy", () => {
  it("has the pods of its workload, its ReplicaSet and its region, in all zones", () => {
    const pods = [
      pod("10.1.0.1"),
      pod("10.1.0.2", { node: "eu-2" }),
      pod("10.1.0.3", { node: "us-1" }),
      pod("10.1.0.4", { hash: "b" }),
      pod("10.1.0.5", { app: "other" }),
    ];
    expect(neighbours(pods)).toEqual(["10.1.0.1", "10.1.0.2"]);
  });

  it("has those without a region, where the proxy has none", () => {
    const pods = [pod("10.1.0.1", { node: "" }), pod("10.1.0.2", { node: "" }), pod("10.1.0.3", { node: "us-1" })];
    expect(neighbours(pods)).toEqual(["10.1.0.1", "10.1.0.2"]);
  });

  it("takes no notice of the rule for calls to the service", () => {
    const rule = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec: {host: web.shop.svc.cluster.local, trafficPolicy: {outlierDetection: {minHealthPercent: 50}}}`;
    const pods = [pod("10.1.0.1"), pod("10.1.0.2", { ready: false })];
    expect(neighbours(pods, rule)).toEqual(["-10.1.0.2", "10.1.0.1"]);
  });
});
