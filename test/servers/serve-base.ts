import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { load, loadAll } from "js-yaml";
import { type Fields, fieldsOf, listOf, textOf } from "../../lib/config/untyped.ts";

const folder = resolve(import.meta.dirname, "../../infra/kubernetes");

/** A file of `infra/kubernetes`. */
export const manifestText = (file: string): Promise<string> => readFile(join(folder, file), "utf8");

/** What `kubectl apply -k infra/kubernetes/serve` would apply, in its order; images are as they stand in the files. */
export async function serveBase(): Promise<readonly Fields[]> {
  const { resources } = fieldsOf(load(await manifestText("serve/kustomization.yaml")));
  const texts = await Promise.all(listOf(resources).map((file) => manifestText(`serve/${textOf(file)}`)));
  return texts.flatMap((text) => loadAll(text)).map(fieldsOf);
}

export const ofKind = (manifests: readonly Fields[], kind: string): readonly Fields[] =>
  manifests.filter((manifest) => manifest.kind === kind);

/** A pod as a Deployment would make it. */
export function podOf({ metadata, spec }: Fields): Fields {
  const { name, namespace } = fieldsOf(metadata);
  const template = fieldsOf(fieldsOf(spec).template);
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec: template.spec };
}
