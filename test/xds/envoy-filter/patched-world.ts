import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { generate } from "../../../lib/xds/generate.ts";
import { asJson, isArray, isObject, type Json } from "../../conformance/json.ts";
import { type NamedProxy, proxyOfNamed } from "../../named-proxy.ts";
import { wholeResources } from "../../whole-resources.ts";

const services = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.0.0.1, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: default}
spec: {clusterIP: 10.0.0.2, ports: [{name: tcp, port: 5432}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: default, labels: {app: web}}
spec: {containers: [{name: a, image: b}]}
status: {phase: Running, podIP: 10.1.0.1, podIPs: [{ip: 10.1.0.1}], conditions: [{type: Ready, status: "True"}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [10.1.0.1], targetRef: {kind: Pod, name: web-1, namespace: default}}]
ports: [{name: http, port: 8080}]
`;

export const hcm = "envoy.filters.network.http_connection_manager";

const sidecar: NamedProxy = {
  name: "web-1",
  type: "sidecar",
  ip: "10.1.0.1",
  namespace: "default",
  labels: { app: "web" },
  serviceAccount: "web",
};

/** What the sidecar of `web` gets with the patches of one EnvoyFilter, written as JSON. */
export function patched(...configPatches: readonly object[]) {
  return patchedNode(sidecar, "", configPatches);
}

/** The same with settings of the folder, the text of `portolan.yaml`. */
export function patchedWith(settings: string, ...configPatches: readonly object[]) {
  return patchedNode(sidecar, "", configPatches, settings);
}

/** Leads port 80 to port 8080 of the gateway's workload, 443 to 8443. */
const gatewayService = `
---
apiVersion: v1
kind: Service
metadata: {name: gateway, namespace: default}
spec:
  clusterIP: 10.0.0.3
  selector: {app: gateway}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: https, port: 443, targetPort: 8443}]
---
apiVersion: v1
kind: Pod
metadata: {name: gateway-1, namespace: default, labels: {app: gateway}}
spec: {containers: [{name: a, image: b}]}
status: {phase: Running, podIP: 10.1.0.9, podIPs: [{ip: 10.1.0.9}], conditions: [{type: Ready, status: "True"}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: gateway-1, namespace: default, labels: {kubernetes.io/service-name: gateway}}
addressType: IPv4
endpoints: [{addresses: [10.1.0.9], targetRef: {kind: Pod, name: gateway-1, namespace: default}}]
ports: [{name: http, port: 8080}, {name: https, port: 8443}]
`;

/** What a gateway of namespace `default` with these servers gets with the patches of one EnvoyFilter. */
export function patchedGateway(servers: readonly object[], ...configPatches: readonly object[]) {
  const gateway = {
    apiVersion: "networking.istio.io/v1",
    kind: "Gateway",
    metadata: { name: "gw", namespace: "default" },
    spec: { selector: { app: "gateway" }, servers },
  };
  const node = { ...sidecar, name: "gateway-1", type: "router", ip: "10.1.0.9", labels: { app: "gateway" } } as const;
  return patchedNode(node, `${gatewayService}---\n${JSON.stringify(gateway)}\n`, configPatches);
}

function patchedNode(node: NamedProxy, objects: string, configPatches: readonly object[], settings = "{}") {
  const filter = {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "ef", namespace: "default" },
    spec: { configPatches },
  };
  const text = `${services}${objects}---\n${JSON.stringify(filter)}\n`;
  const files = [
    { file: "in.yaml", text },
    { file: "portolan.yaml", text: settings },
  ];
  // As whoever compiles reads.
  const loaded = readFiles(files, { acceptUnknownTypes: true });
  const memo = createMemo();
  const world = worldOf(loaded, defaultWorldOptions, memo).value;
  const proxy = proxyOfNamed(node, world.registry, world.meshConfig).value;
  if (proxy === undefined) throw new Error("the proxy of this test is valid");
  const { value: made, diagnostics } = generate(buildMesh(world, memo).value, proxy, memo);
  const value = wholeResources(made);
  const at = (type: keyof typeof value, name: string, ...path: readonly (string | number)[]): Json | undefined =>
    path.reduce<Json | undefined>(
      (json, key) => (isArray(json) ? json[Number(key)] : isObject(json) ? json[key] : undefined),
      asJson(value[type].find((resource) => resource.name === name)?.json ?? null),
    );
  const names = (type: keyof typeof value) => value[type].map((resource) => resource.name);
  return { at, names, diagnostics, value };
}
