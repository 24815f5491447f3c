import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { load, loadAll } from "js-yaml";
import picocolors from "picocolors";
import { type Fields, fieldsOf, listOf, textOf } from "../../lib/base/untyped.ts";
import { runCli } from "../../lib/cli/program.ts";

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

const without = (fields: unknown, isLeftOut: (name: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(fieldsOf(fields)).filter(([name]) => !isLeftOut(name)));

const isOfChart = (name: string) =>
  /^(?:helm\.sh\/chart|app\.kubernetes\.io\/(?:instance|managed-by|version)|checksum\/settings|portolan\.dev\/installation|imagePullPolicy)$/.test(
    name,
  );

/** An object without what only the chart, or `portolan install`, says of it, without fields that are empty then, and with settings as they are read. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(without(value, isOfChart)).flatMap(([name, member]) => {
    if (name === "portolan.yaml") return [[name, load(textOf(member))]];
    const inner = comparable(member);
    const isEmptied = /^(?:labels|annotations)$/.test(name) && Object.keys(fieldsOf(inner)).length === 0;
    return isEmptied ? [] : [[name, inner]];
  });
  return Object.fromEntries(members);
}

/** Objects by kind and name, as `comparable`. */
export function byName(manifests: readonly Fields[]): ReadonlyMap<string, unknown> {
  const entries = manifests.map((manifest) => {
    const { name, namespace } = fieldsOf(manifest.metadata);
    return [`${textOf(manifest.kind)} ${textOf(namespace)}/${textOf(name)}`, comparable(manifest)] as const;
  });
  return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The text that `portolan install -o yaml` prints, with what the files of `infra/kubernetes` have for the store, variables and image. */
export async function installText(...args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const tell = (line: string) => void lines.push(line);
  const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
  const usual = ["--store", "s3://mesh/prod", "--env", "AWS_REGION=eu-central-1"];
  const code = await runCli(["node", "portolan", "install", ...usual, "-o", "yaml", ...args], terminal);
  if (code !== 0) throw new Error(lines.join("\n"));
  return `${lines.join("\n")}\n`;
}

/** Its objects. */
export const printedInstall = async (...args: readonly string[]): Promise<readonly Fields[]> =>
  loadAll(await installText(...args)).map(fieldsOf);
