import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { isJsonObject, type JsonObject, mapJson } from "./map-json.ts";
import { sdsCluster } from "./names.ts";
import { type ClassResources, mapParted, type Resource } from "./resource.ts";

/** Where certificates lie on the machines of a class. */
export interface CertificateFiles {
  /**
   * Folder with `default.json` and `ROOTCA.json`: each one DiscoveryResponse with one Secret, replaced by rename when a
   * certificate is renewed. Envoy refuses a resource whose file is not there.
   */
  readonly directory: string;
  /** Roots that the machine itself trusts, one PEM file. */
  readonly systemRoots: string;
}

/** The folder that Istio's agent mounts certificates in, and the roots of Debian and Alpine. */
export const defaultCertificateFiles: CertificateFiles = {
  directory: "/etc/certs",
  systemRoots: "/etc/ssl/certs/ca-certificates.crt",
};

/**
 * Takes certificates from files instead of from an agent that speaks SDS: the workload's identity through files that
 * Envoy watches, what a rule names as files directly. For machines without such an agent.
 *
 * @returns resources of unchanged identity where no certificate is named
 * @see docs/how-istio-does-it/security.md#certificates-without-an-agent
 */
export function withCertificateFiles(resources: ClassResources, files: CertificateFiles, memo: Memo): ClassResources {
  const { clusters, listeners } = resources;
  return {
    ...resources,
    clusters: mapParted(clusters, (list) => allWithFiles(memo, { files, list })),
    listeners: mapParted(listeners, (list) => allWithFiles(memo, { files, list })),
  };
}

const allWithFiles = query(
  "resources with certificate files",
  ({ files, list }: { readonly files: CertificateFiles; readonly list: readonly Resource[] }, memo: Memo) =>
    list.map((resource) => withFiles(memo, { files, resource })),
);

const withFiles = query(
  "resource with certificate files",
  ({ files, resource }: { readonly files: CertificateFiles; readonly resource: Resource }): Resource => {
    const json = mapJson(resource.json, (object) => tlsContext(object, files));
    return json === resource.json || !isJsonObject(json) ? resource : { ...resource, json };
  },
);

/** A `CommonTlsContext` with its secrets from files; any other object as it is. */
function tlsContext(object: JsonObject, files: CertificateFiles): JsonObject {
  const { tlsCertificateSdsSecretConfigs: pairs, combinedValidationContext: combined, ...rest } = object;
  if (!Array.isArray(pairs) && !isJsonObject(combined)) return object;
  return {
    ...rest,
    ...(Array.isArray(pairs) ? keyPairs(pairs, files) : {}),
    ...(isJsonObject(combined) ? validation(combined, files) : {}),
  };
}

/** Name of a secret that the agent would hand out; undefined for those of the control plane. */
function agentSecret(secret: unknown): string | undefined {
  if (!isJsonObject(secret) || typeof secret.name !== "string") return undefined;
  return JSON.stringify(secret.sdsConfig ?? {}).includes(`"clusterName":"${sdsCluster}"`) ? secret.name : undefined;
}

/** The same secret, from a file that Envoy watches. */
function watched(name: string, files: CertificateFiles): JsonObject {
  return {
    name,
    sdsConfig: { pathConfigSource: { path: `${files.directory}/${name}.json` }, resourceApiVersion: "V3" },
  };
}

const pairPattern = /^file-cert:(.*)~([^~]*)$/;
const rootPattern = /^file-root:(.*)$/;

function keyPairs(secrets: readonly unknown[], files: CertificateFiles): JsonObject {
  const named: unknown[] = [];
  const direct: JsonObject[] = [];
  for (const secret of secrets) {
    const name = agentSecret(secret);
    const pair = pairPattern.exec(name ?? "");
    if (name === undefined) named.push(secret);
    else if (pair === null) named.push(watched(name, files));
    else direct.push({ certificateChain: { filename: pair[1] }, privateKey: { filename: pair[2] } });
  }
  return {
    ...(named.length === 0 ? {} : { tlsCertificateSdsSecretConfigs: named }),
    ...(direct.length === 0 ? {} : { tlsCertificates: direct }),
  };
}

function validation(combined: JsonObject, files: CertificateFiles): JsonObject {
  const name = agentSecret(combined.validationContextSdsSecretConfig);
  if (name === undefined) return { combinedValidationContext: combined };
  const root = rootPattern.exec(name)?.[1];
  if (root === undefined) {
    return { combinedValidationContext: { ...combined, validationContextSdsSecretConfig: watched(name, files) } };
  }
  const names = isJsonObject(combined.defaultValidationContext) ? combined.defaultValidationContext : {};
  return { validationContext: { ...names, trustedCa: { filename: root === "system" ? files.systemRoots : root } } };
}
