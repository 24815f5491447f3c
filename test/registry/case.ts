import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../lib/config/config.ts";
import { parseStream } from "../../lib/config/documents/parse.ts";
import { defaultMeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../lib/config/kinds/mesh-networks.ts";
import { readConfig } from "../../lib/config/read-config.ts";
import { readMeshConfig, readMeshNetworks } from "../../lib/config/read-mesh-config.ts";
import type { RegistryInput } from "../../lib/registry/registry-input.ts";

/** Registry input out of YAML: Kubernetes objects and Istio's kinds together. */
export function inputOf(yaml: string, more: Partial<RegistryInput> = {}): RegistryInput {
  const objects = parseStream(yaml, { file: "input.yaml" }).value;
  const configs = objects.map((object) => readConfig(object).value).filter((config) => config !== undefined);
  return {
    clusters: [{ id: "Kubernetes", objects }],
    configs: configs satisfies readonly Config[],
    meshConfig: defaultMeshConfig,
    meshNetworks: noMeshNetworks,
    domain: "cluster.local",
    ...more,
  };
}

/** Registry input of the folder of a conformance case. */
export function caseInput(folder: string): RegistryInput {
  const text = (file: string): string | undefined => {
    const path = join(folder, file);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  };
  const input = inputOf(text("input.yaml") ?? "");
  const clusters = join(folder, "clusters");
  const extra = existsSync(clusters) ? readdirSync(clusters).sort() : [];
  return {
    ...input,
    clusters: [
      ...input.clusters,
      ...extra.map((file) => ({
        id: file.replace(/\.yaml$/, ""),
        objects: parseStream(text(`clusters/${file}`) ?? "", { file }).value,
      })),
    ],
    meshConfig: readMeshConfig(text("mesh.yaml") ?? "{}").value,
    meshNetworks: readMeshNetworks(text("networks.yaml") ?? "{}").value,
  };
}
