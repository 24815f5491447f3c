import { CORE_SCHEMA, load, mergeTag, YAMLException } from "js-yaml";
import type { z } from "zod";
import { byCodePoint, type Diagnostic, type Origin, type Stage } from "./diagnostic.ts";
import { locateAll } from "./documents/locate.ts";
import { at, cutFindings, error, type Finding } from "./finding.ts";
import type { ExtensionProvider } from "./kinds/extension-provider.ts";
import { defaultMeshConfig, type MeshConfig, type ProxyConfig, type WrittenMeshConfig } from "./kinds/mesh-config.ts";
import { type MeshNetworks, noMeshNetworks } from "./kinds/mesh-networks.ts";
import type { ProxyHeaders } from "./kinds/mesh-proxy-config.ts";
import { readSpec } from "./read-spec.ts";
import { legacyMeshSettingsRules } from "./rules/legacy/legacy-mesh-settings.ts";
import { meshConfigRules, meshNetworksRules } from "./rules/mesh-config.ts";
import { meshConfig, meshNetworks } from "./schema/mesh-config.ts";

const schema = CORE_SCHEMA.withTags(mergeTag);

/**
 * Reads a MeshConfig and lays it over the defaults: top-level fields replace, `defaultConfig` and `defaultProviders` merge
 * field by field, `extensionProviders` by name. Unknown fields are ignored with a warning, as Istio has it.
 *
 * @returns the defaults where the text has errors
 */
export function readMeshConfig(text: string, file = "mesh.yaml"): Stage<MeshConfig> {
  return readMesh(text, file, "MeshConfig", meshConfig, defaultMeshConfig, (written) => {
    const merged = mergeMeshConfig(defaultMeshConfig, written);
    const findings = [...meshConfigRules(merged), ...legacyMeshSettingsRules(merged)];
    return { spec: merged, findings: findings.map((finding) => inWritten(finding, merged, written)) };
  });
}

/** Merging moves elements of lists: their findings speak of where they were written. */
function inWritten(finding: Finding, merged: MeshConfig, written: WrittenMeshConfig): Finding {
  const [list, index, ...rest] = finding.path;
  if (typeof index !== "number" || (list !== "extensionProviders" && list !== "trustDomainAliases")) return finding;
  const elements: readonly unknown[] = written[list] ?? [];
  const place = elements.indexOf(merged[list][index]);
  return place < 0 ? finding : { ...finding, path: [list, place, ...rest] };
}

/** Reads a MeshNetworks; no networks where the text has errors. */
export function readMeshNetworks(text: string, file = "networks.yaml"): Stage<MeshNetworks> {
  return readMesh(text, file, "MeshNetworks", meshNetworks, noMeshNetworks, (written) => ({
    spec: written,
    findings: [...meshNetworksRules(written)],
  }));
}

export function mergeMeshConfig(base: MeshConfig, written: WrittenMeshConfig): MeshConfig {
  const aliases = new Set([...base.trustDomainAliases, ...(written.trustDomainAliases ?? [])]);
  return {
    ...base,
    ...written,
    defaultConfig: mergeProxyConfig(base.defaultConfig, written.defaultConfig ?? {}),
    defaultProviders: { ...base.defaultProviders, ...written.defaultProviders },
    extensionProviders: mergeProviders(base.extensionProviders, written.extensionProviders ?? []),
    trustDomainAliases: [...aliases].sort(byCodePoint),
    ...(Object.keys(written).length === 0 ? {} : { written: { ...base.written, ...written } }),
  };
}

/**
 * Fields replace, whole messages too; `proxyMetadata` merges key by key, and of `proxyHeaders` the headers; service cluster
 * and tracing service name replace each other.
 *
 * @see istio 1.30.3 pkg/config/mesh/mesh.go, MergeProxyConfig
 */
export function mergeProxyConfig(base: ProxyConfig, written: Partial<ProxyConfig>): ProxyConfig {
  const { serviceCluster, tracingServiceName, ...rest } = base;
  const name = {
    ...(serviceCluster === undefined ? {} : { serviceCluster }),
    ...(tracingServiceName === undefined ? {} : { tracingServiceName }),
  };
  const renamed = written.serviceCluster !== undefined || written.tracingServiceName !== undefined;
  return {
    ...rest,
    ...(renamed ? {} : name),
    ...written,
    proxyMetadata: { ...base.proxyMetadata, ...written.proxyMetadata },
    ...(base.proxyHeaders === undefined || written.proxyHeaders === undefined
      ? {}
      : { proxyHeaders: mergeProxyHeaders(base.proxyHeaders, written.proxyHeaders) }),
  };
}

/** Headers that nothing is written about stay; the members that are newer than Istio's merging of them do not. */
function mergeProxyHeaders(base: ProxyHeaders, written: ProxyHeaders): ProxyHeaders {
  const { forwardedClientCert, requestId, attemptCount, server, envoyDebugHeaders } = base;
  const kept = { forwardedClientCert, requestId, attemptCount, server, envoyDebugHeaders };
  return { ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)), ...written };
}

function mergeProviders(
  base: readonly ExtensionProvider[],
  written: readonly ExtensionProvider[],
): readonly ExtensionProvider[] {
  const names = new Set(base.map((provider) => provider.name));
  const replaced = base.map((provider) => written.find((other) => other.name === provider.name) ?? provider);
  return [...replaced, ...written.filter((provider) => !names.has(provider.name))];
}

function readMesh<Written, Spec>(
  text: string,
  file: string,
  kind: string,
  specSchema: z.ZodType<Written>,
  fallback: Spec,
  complete: (written: Written) => { readonly spec: Spec; readonly findings: readonly Finding[] },
): Stage<Spec> {
  const origin: Origin = { key: { group: "", kind, name: kind, namespace: "" }, file, line: 1 };
  let raw: unknown;
  try {
    raw = text.trim() === "" ? {} : load(text, { schema });
  } catch (cause) {
    const line = cause instanceof YAMLException ? (cause.mark?.line ?? 0) + 1 : 1;
    const message = cause instanceof YAMLException ? (cause.reason ?? cause.message) : String(cause);
    return { value: fallback, diagnostics: [at({ ...origin, line }, error([], message, "", "unreadable-document"))] };
  }
  const read = readSpec(specSchema, raw, { unknownFields: "ignore", emptyWhenNull: [] });
  const completed = read.spec === undefined ? undefined : complete(read.spec);
  const findings = [...read.findings, ...(completed?.findings ?? [])];
  const refused = completed === undefined || findings.some((finding) => finding.severity === "error");
  return { value: refused ? fallback : completed.spec, diagnostics: located(findings, text, origin) };
}

function located(all: readonly Finding[], text: string, origin: Origin): readonly Diagnostic[] {
  if (all.length === 0) return [];
  const findings = cutFindings(all);
  const positions = locateAll(
    { text, line: 1 },
    findings.map((finding) => finding.path),
  );
  return findings.map((finding, index) => at({ ...origin, line: positions[index]?.line ?? 1 }, finding));
}
