import type { Diagnostic } from "../../../lib/base/diagnostic.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo, type Memo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import type { ListenerView } from "../../../lib/mesh/views/views.ts";
import { generateListeners } from "../../../lib/xds/listeners/generate-listeners.ts";
import { wholeList } from "../../../lib/xds/resource.ts";
import { asJson, isArray, isObject, type Json } from "../../conformance/json.ts";
import { envoyViewsOf } from "../../mesh/envoy-views.ts";
import { type NamedProxy, proxyOfNamed } from "../../named-proxy.ts";

/** A world in the words of its operators. */
export interface SmallWorld {
  readonly input: string;
  readonly mesh?: string;
  readonly networks?: string;
  readonly node?: Partial<NamedProxy>;
}

/** A client in `default`; or a gateway in `istio-system` when the node says `router`. */
function nodeOf(node: Partial<NamedProxy> = {}): NamedProxy {
  const router = node.type === "router";
  return {
    name: router ? "gateway-1" : "client-1",
    type: "sidecar",
    ip: "10.1.0.9",
    namespace: router ? "istio-system" : "default",
    labels: { app: router ? "gateway" : "client" },
    ...node,
  };
}

export function listenerView({ input, mesh, networks, node }: SmallWorld, memo: Memo): ListenerView {
  const files = [
    { file: "input.yaml", text: input },
    ...(mesh === undefined ? [] : [{ file: "mesh.yaml", text: mesh }]),
    ...(networks === undefined ? [] : [{ file: "networks.yaml", text: networks }]),
  ];
  const world = worldOf(readFiles(files), { ...defaultWorldOptions, compat: "istio" }, memo).value;
  const proxy = proxyOfNamed(nodeOf(node), world.registry, world.meshConfig).value;
  if (proxy === undefined) throw new Error("the node of the test cannot be read");
  return envoyViewsOf(buildMesh(world, memo).value, proxy, memo).listeners;
}

export interface Answer {
  readonly names: readonly string[];
  /** A part of a listener by its path, `virtualInbound filterChains 0 name`. */
  at(listener: string, ...path: readonly (string | number)[]): Json | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** The listeners that a small world gives its node. */
export function listenersOf(world: SmallWorld): Answer {
  const memo = createMemo();
  const { value: made, diagnostics } = generateListeners(listenerView(world, memo), memo);
  const value = wholeList(made);
  const byName = new Map(value.map(({ name, json }) => [name, asJson(json)]));
  return {
    names: value.map((resource) => resource.name),
    at: (listener, ...path) => path.reduce<Json | undefined>(step, byName.get(listener)),
    diagnostics,
  };
}

function step(json: Json | undefined, key: string | number): Json | undefined {
  if (typeof key === "number") return isArray(json) ? json[key] : undefined;
  return isObject(json) ? json[key] : undefined;
}

/** A ServiceEntry with one port. */
export function entry(name: string, port: number, protocol: string, rest = "resolution: NONE"): string {
  return `
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}}
spec:
  hosts: [${name}.example.com]
  location: MESH_EXTERNAL
  ports: [{number: ${port}, name: p, protocol: ${protocol}}]
  ${rest}
`;
}
