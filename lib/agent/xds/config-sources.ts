import { join } from "node:path";
import { identityCluster, restSource } from "../bootstrap.ts";
import { type LeafKind, leafPath } from "./leaf-path.ts";

/** A resource that another one names, and that therefore has to have a file. */
export interface Reference {
  readonly kind: LeafKind;
  readonly name: string;
}

export interface FileText {
  readonly text: string;
  readonly references: readonly Reference[];
}

export interface FileSourceOptions {
  /** Folder of the files, as Envoy sees it. */
  readonly folder: string;
  /** Whether the agent writes the workload's certificate into files; otherwise Envoy asks whoever the resource names. */
  readonly hasCertificateFiles: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * A resource that was made for a stream, for an Envoy that reads files: endpoints and routes come from files of their own, and so does
 * the workload's certificate where the agent has it. What else would come by the stream is asked of the control plane's cluster.
 */
export function withFileSources(text: string, { folder, hasCertificateFiles }: FileSourceOptions): FileText {
  const fileOf = (kind: LeafKind, name: string) => ({
    pathConfigSource: { path: join(folder, leafPath(kind, name)) },
    resourceApiVersion: "V3",
  });

  function rewritten(object: Json, clusterName: string): Json {
    const { edsConfig, configSource, sdsConfig, routeConfigName, serviceName, name } = object;
    if (isAggregated(edsConfig)) return { ...object, edsConfig: fileOf("eds", textOf(serviceName) || clusterName) };
    if (isAggregated(configSource) && typeof routeConfigName === "string")
      return { ...object, configSource: fileOf("rds", routeConfigName) };
    if (isObject(sdsConfig) && typeof name === "string" && hasCertificateFiles && isOfWorkload(sdsConfig))
      return { ...object, sdsConfig: fileOf("sds", name) };
    return isAggregated(object) ? restSource() : object;
  }

  function walk(value: unknown, clusterName: string): unknown {
    if (Array.isArray(value)) return value.map((item) => walk(item, clusterName));
    if (!isObject(value)) return value;
    const own = rewritten(value, clusterName);
    return Object.fromEntries(Object.entries(own).map(([key, member]) => [key, walk(member, clusterName)]));
  }

  const json: unknown = JSON.parse(text);
  const result = JSON.stringify(walk(json, isObject(json) ? textOf(json.name) : ""));
  return { text: result, references: referencesIn(result) };
}

/** What a resource that was rewritten names. */
export function referencesIn(text: string): readonly Reference[] {
  const references: Reference[] = [];
  const walk = (value: unknown, clusterName: string): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, clusterName);
    if (!isObject(value)) return;
    const { edsConfig, configSource, sdsConfig, routeConfigName, serviceName, name } = value;
    if (isFile(edsConfig)) references.push({ kind: "eds", name: textOf(serviceName) || clusterName });
    if (isFile(configSource) && typeof routeConfigName === "string")
      references.push({ kind: "rds", name: routeConfigName });
    if (isFile(sdsConfig) && typeof name === "string") references.push({ kind: "sds", name });
    for (const member of Object.values(value)) walk(member, clusterName);
  };
  const json: unknown = JSON.parse(text);
  walk(json, isObject(json) ? textOf(json.name) : "");
  return references;
}

const isFile = (value: unknown): boolean => isObject(value) && isObject(value.pathConfigSource);

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isAggregated = (value: unknown): value is Json => isObject(value) && isObject(value.ads);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Whether a secret is the workload's own: it comes from the identity agent, or from the folder that `--certificates files` names. */
function isOfWorkload(sdsConfig: Json): boolean {
  const { pathConfigSource, apiConfigSource } = sdsConfig;
  if (isObject(pathConfigSource)) return textOf(pathConfigSource.path).startsWith("/etc/certs/");
  return isObject(apiConfigSource) && JSON.stringify(apiConfigSource).includes(`"clusterName":"${identityCluster}"`);
}
