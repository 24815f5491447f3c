import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Config } from "../../lib/config/config.ts";
import { defaultMeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { noMeshNetworks } from "../../lib/config/kinds/mesh-networks.ts";
import { parseStream } from "../../lib/config/parse.ts";
import { readConfig } from "../../lib/config/read-config.ts";
import { readMeshConfig, readMeshNetworks } from "../../lib/config/read-mesh-config.ts";
import type { RegistryInput } from "../../lib/registry/registry-input.ts";

export const conformance = new URL("../../../shared/conformance/", import.meta.url);

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

/** Registry input of a v3 conformance case. */
export function caseInput(suite: string, name: string): RegistryInput {
  const folder = new URL(`${suite}/${name}/`, conformance);
  const text = (file: string): string | undefined => {
    const url = new URL(file, folder);
    return existsSync(url) ? readFileSync(url, "utf8") : undefined;
  };
  const input = inputOf(text("input.yaml") ?? "");
  const extra = existsSync(new URL("clusters/", folder)) ? readdirSync(new URL("clusters/", folder)).sort() : [];
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
