import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { hashOf } from "../../base/blob.ts";
import { causeText } from "../../base/cause-text.ts";
import { isRecord, textOf } from "../../base/classifier.ts";
import { byCodePoint, PortolanError } from "../../base/diagnostic.ts";
import { type CoreType, typeUrlOf } from "../../snapshot/resource-type.ts";
import { localCluster, localClusterFile } from "../local-cluster.ts";
import type { Holding, WholeHoldings } from "../source/resources.ts";
import { type Reference, rewriteSources } from "../xds/config-sources.ts";
import { leafPath } from "./leaf-path.ts";
import { draftEnding, writeDraft } from "./replace-file.ts";

export interface EnvoyFilesOptions {
  /** Folder of the files, as Envoy sees it. */
  readonly folder: string;
  /** Whether the workload's certificate lies in files there; otherwise Envoy asks whoever the resource names. */
  readonly hasCertificateFiles: boolean;
}

/**
 * So many files Envoy may watch: each of them costs it an inotify instance, of which Linux gives a user 128
 * (`fs.inotify.max_user_instances`), and an Envoy that gets none aborts.
 */
export const maxWatchedFiles = 100;

/** Clusters, listeners, the local cluster, and the workload's certificate and roots. */
const otherFiles = 5;

/** Paths from the folder, with what is in them, in the order in which they are put into their places. */
export type FileTexts = ReadonlyMap<string, string>;

/**
 * What a node is to have as files for an Envoy that has no agent beside it. Endpoints stand in their clusters, so that Envoy watches one
 * file for all of them; route tables have a file each, so that a change of one drains no listener.
 *
 * @throws PortolanError when Envoy would have to watch more files than it can
 */
export function envoyFiles(holdings: WholeHoldings, { folder, hasCertificateFiles }: EnvoyFilesOptions): FileTexts {
  const sourceOf = (kind: "rds" | "sds", name: string): JsonObject => ({
    pathConfigSource: { path: join(folder, leafPath(kind, name)) },
    resourceApiVersion: "V3",
  });
  const form = {
    routes: (name: string) => sourceOf("rds", name),
    secrets: hasCertificateFiles ? (name: string) => sourceOf("sds", name) : undefined,
  };
  const rewritten = (type: CoreType) =>
    sorted(holdings[type]).map(({ name, text }) => ({ name, ...rewriteSources(parsed(text), form) }));
  const [clusters, listeners] = [rewritten("clusters"), rewritten("listeners")];
  const endpoints = holdings.endpoints.resources;
  const cds = clusters.map(({ json, references }) => withEndpoints(json, references, endpoints));
  const tables = new Map(
    [...holdings.routes.resources.values()].map(({ name, text }) => [leafPath("rds", name), responseText([text])]),
  );
  const read = new Set(listeners.flatMap(({ references }) => references).map(({ name }) => leafPath("rds", name)));
  if (read.size > maxWatchedFiles - otherFiles)
    throw new PortolanError(
      `the listeners name ${read.size} route tables, and an Envoy without an agent can watch ${maxWatchedFiles} files: each costs an inotify instance, and Linux gives a user 128 (fs.inotify.max_user_instances). The files are left as they were. Let the agent run the Envoy (without --once), or give the proxy a Sidecar that sees fewer ports`,
    );
  // Envoy refuses what names a file that is not there.
  for (const { references } of listeners)
    for (const { name } of references)
      if (!tables.has(leafPath("rds", name)))
        tables.set(leafPath("rds", name), responseText([JSON.stringify({ "@type": typeUrlOf("routes"), name })]));
  const like = endpoints.get(localCluster);
  return new Map([
    ...tables,
    ...(like === undefined ? [] : [[localClusterFile, responseText([like.text])] as const]),
    ["cds.json", responseText(cds.map((json) => JSON.stringify(json)))],
    ["lds.json", responseText(listeners.map(({ json }) => JSON.stringify(json)))],
  ]);
}

const sorted = ({ resources }: Holding) => [...resources.values()].sort((a, b) => byCodePoint(a.name, b.name));

function parsed(text: string): JsonObject {
  const json: JsonValue = JSON.parse(text);
  return isRecord(json) ? json : {};
}

/** A cluster with its endpoints in it, where it would ask for them. */
function withEndpoints(
  cluster: JsonObject,
  references: readonly Reference[],
  endpoints: Holding["resources"],
): JsonObject {
  const named = references.find(({ type }) => type === "endpoints");
  if (named === undefined) return cluster;
  const { edsClusterConfig: _source, ...rest } = cluster;
  const { "@type": _type, ...assignment } = parsed(endpoints.get(named.name)?.text ?? "{}");
  return { ...rest, type: "STATIC", loadAssignment: { clusterName: textOf(cluster.name), ...assignment } };
}

/** A DiscoveryResponse on disk. @param resources as JSON on one line each */
export function responseText(resources: readonly string[]): string {
  const body = resources.join(",\n");
  return `{"version_info":"${hashOf(body).slice(0, 32)}","resources":[\n${body}\n]}\n`;
}

/**
 * Puts files into their places, each by a rename; all are written before the first is. Route tables that nothing names any more go.
 *
 * @throws PortolanError when the folder cannot be written; then nothing was changed, or some files are those of before
 */
export async function putFiles(folder: string, files: FileTexts): Promise<void> {
  const drafts = new Map<string, string>();
  try {
    await mkdir(join(folder, "rds"), { recursive: true });
    await clear(folder, () => false);
    for (const [path, text] of files) drafts.set(path, await writeDraft(join(folder, path), text));
    for (const [path, draft] of drafts) await rename(draft, join(folder, path));
    await clear(folder, (path) => dirname(path) === "rds" && !files.has(path));
  } catch (cause) {
    for (const draft of drafts.values()) await rm(draft, { force: true });
    throw new PortolanError(`cannot write into ${folder}: ${causeText(cause)}`, [], cause);
  }
}

/** Removes what a killed agent has not finished, and files that are gone. */
async function clear(folder: string, isGone: (path: string) => boolean): Promise<void> {
  for (const sub of ["", "rds"]) {
    for (const name of await readdir(join(folder, sub))) {
      const path = join(sub, name);
      if (name.endsWith(draftEnding) || (name.endsWith(".json") && isGone(path)))
        await rm(join(folder, path), { force: true });
    }
  }
}
