import type { Diagnostic } from "../../../lib/base/diagnostic.ts";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { newestRelease, type Release } from "../../../lib/config/compat/compat-settings.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import type { FormName } from "../../../lib/mesh/forms.ts";
import { generate } from "../../../lib/xds/generate.ts";
import type { ResourceType } from "../../../lib/xds/resource.ts";
import { asJson, isArray, isObject, type Json } from "../../conformance/json.ts";
import { type NamedProxy, proxyOfNamed } from "../../named-proxy.ts";
import { wholeResources } from "../../whole-resources.ts";

/** A program in `default`, the server behind the service `echo`. */
export const program: NamedProxy = {
  name: "echo-1",
  type: "sidecar",
  ip: "10.1.0.1",
  namespace: "default",
  labels: { app: "echo" },
  metadata: { GENERATOR: "grpc" },
};

export const pod = (name: string, app: string, podIP: string): string => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: default, labels: { app: ${app} } }
spec: { serviceAccountName: ${app}, containers: [{ name: app }] }
status: { phase: Running, podIP: ${podIP}, conditions: [{ type: Ready, status: "True" }] }
---`;

export const service = (name: string, clusterIP: string, namespace = "default"): string => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: ${namespace} }
spec: { clusterIP: ${clusterIP}, selector: { app: ${name} }, ports: [{ name: grpc, port: 7070, targetPort: 17070 }] }
---`;

export const echo = pod("echo-1", "echo", "10.1.0.1") + service("echo", "10.0.0.1");

export interface ProgramAnswer {
  names(type: ResourceType): readonly string[];
  /** A part of a resource by its path. */
  at(type: ResourceType, name: string, ...path: readonly (string | number)[]): Json | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** What the class of a program holds in a small world; of the newest release, unless said otherwise. */
export function answersOf(
  input: string,
  compat: FormName = "shared",
  mesh = "",
  release: Release = newestRelease,
): ProgramAnswer {
  const memo = createMemo();
  const files = [{ file: "input.yaml", text: input }, ...(mesh === "" ? [] : [{ file: "mesh.yaml", text: mesh }])];
  const world = worldOf(readFiles(files), { ...defaultWorldOptions, compat, release }, memo).value;
  const proxy = proxyOfNamed(program, world.registry, world.meshConfig).value;
  if (proxy === undefined) throw new Error("the node of the test cannot be read");
  const { value: made, diagnostics } = generate(buildMesh(world, memo).value, proxy, memo);
  const value = wholeResources(made);
  return {
    names: (type) => value[type].map(({ name }) => name),
    at: (type, name, ...path) => {
      const found = value[type].find((resource) => resource.name === name);
      return path.reduce<Json | undefined>(member, found && asJson(found.json));
    },
    diagnostics,
  };
}

function member(json: Json | undefined, key: string | number): Json | undefined {
  if (isArray(json)) return typeof key === "number" ? json[key] : undefined;
  return isObject(json) ? json[key] : undefined;
}
