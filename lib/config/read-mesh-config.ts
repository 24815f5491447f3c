import type { z } from "zod";
import { byCodePoint, type Diagnostic, errorsOf, type Origin, type Stage } from "../base/diagnostic.ts";
import { distance } from "../base/nearest-name.ts";
import { fieldsOf, isFields } from "../base/untyped.ts";
import { leftOutOfDocument } from "./documents/left-out-document.ts";
import { locateAll } from "./documents/locate.ts";
import { objectInSettings, statedKind } from "./documents/object-in-settings.ts";
import { readYaml } from "./documents/parse.ts";
import { at, cutFindings, error, type Finding } from "./finding.ts";
import type { ExtensionProvider } from "./kinds/extension-provider.ts";
import { defaultMeshConfig, type MeshConfig, type ProxyConfig, type WrittenMeshConfig } from "./kinds/mesh-config.ts";
import { type MeshNetworks, noMeshNetworks } from "./kinds/mesh-networks.ts";
import type { ProxyHeaders } from "./kinds/mesh-proxy-config.ts";
import { camelFieldName, readSpec } from "./read-spec.ts";
import { legacyMeshSettingsRules } from "./rules/legacy/legacy-mesh-settings.ts";
import { meshConfigRules, meshNetworksRules } from "./rules/mesh-config.ts";
import { meshConfig, meshNetworks } from "./schema/mesh-config.ts";
import { fieldsAt } from "./schema/message.ts";

/** Settings of the mesh as they were read. */
export interface ReadSettings<Spec> extends Stage<Spec> {
  /** False where the text has errors and none was valid before: what is read then is the defaults, which may open what the settings close. */
  readonly isUsable: boolean;
}

/**
 * Reads a MeshConfig and lays it over the defaults: top-level fields replace, `defaultConfig` and `defaultProviders` merge
 * field by field, `extensionProviders` by name. Unknown fields are ignored with a warning, as Istio has it. A top-level field with an error
 * is as the last valid text has it, and all are where the text cannot be read, is gone or says nothing. An unknown field that comes as
 * others go is an error: it may be one of them, misspelt.
 *
 * @param text undefined: it is gone
 * @param before the last valid text; absent: none is known
 * @param isInFolder whether it is a file of a folder: then a field with a slip is an error
 * @see istio 1.30.3 pilot/pkg/serviceregistry/util/meshwatcher/collection.go, which keeps the last valid settings as a whole
 */
export function readMeshConfig(
  text: string | undefined,
  file = "mesh.yaml",
  before?: string,
  isInFolder = false,
): ReadSettings<MeshConfig> {
  return readMesh(text, file, before, {
    kind: "MeshConfig",
    isInFolder,
    schema: meshConfig,
    fallback: defaultMeshConfig,
    complete(written) {
      const merged = mergeMeshConfig(defaultMeshConfig, written);
      const findings = [...meshConfigRules(merged), ...legacyMeshSettingsRules(merged)];
      return { spec: merged, findings: findings.map((finding) => inWritten(finding, merged, written)) };
    },
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

/** Reads a MeshNetworks, as `readMeshConfig` reads a MeshConfig. */
export function readMeshNetworks(
  text: string | undefined,
  file = "networks.yaml",
  before?: string,
  isInFolder = false,
): ReadSettings<MeshNetworks> {
  return readMesh(text, file, before, {
    kind: "MeshNetworks",
    isInFolder,
    schema: meshNetworks,
    fallback: noMeshNetworks,
    complete: (written) => ({ spec: written, findings: [...meshNetworksRules(written)] }),
  });
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

/** One sort of settings. */
interface SettingsKind<Written, Spec> {
  readonly kind: string;
  readonly schema: z.ZodType<Written>;
  readonly fallback: Spec;
  /** A file of a folder, which is read as strictly as its objects are; a cluster's may be of a newer release. */
  readonly isInFolder: boolean;
  readonly complete: (written: Written) => { readonly spec: Spec; readonly findings: readonly Finding[] };
}

function readMesh<Written, Spec>(
  written: string | undefined,
  file: string,
  before: string | undefined,
  of: SettingsKind<Written, Spec>,
): ReadSettings<Spec> {
  const origin: Origin = { key: { group: "", kind: of.kind, name: of.kind, namespace: "" }, file, line: 1 };
  const text = written ?? "";
  const loaded = loadText(text);
  const last = before === undefined ? undefined : loadText(before);
  const lastRaw = last !== undefined && "raw" in last ? last.raw : undefined;
  const lastSpec = lastRaw === undefined ? undefined : readRaw(lastRaw, of).spec;
  const instead = { value: lastSpec ?? of.fallback, isUsable: lastSpec !== undefined };
  if ("message" in loaded) {
    const finding = error([], loaded.message, hintOf(instead), "unreadable-document");
    return { ...instead, diagnostics: [at({ ...origin, line: loaded.line }, finding)] };
  }
  if (lastSpec !== undefined && (text.trim() === "" || isNone(loaded.raw)) && !isSame(lastSpec, readRaw({}, of).spec)) {
    const finding = error([], written === undefined ? "is gone" : "is empty", meantHint, "missing-field");
    return { ...instead, diagnostics: [at(origin, finding)] };
  }
  const leftOut = leftOutOfDocument(loaded.raw);
  if (leftOut !== undefined) return { ...instead, diagnostics: [at(origin, { ...leftOut, path: [] })] };
  const kind = statedKind(loaded.raw);
  if (kind !== "") {
    const finding = objectInSettings(file, kind, `is read as the mesh's settings (${of.kind})`);
    return { ...instead, diagnostics: [at(origin, finding)] };
  }
  const { spec, findings: found } = readRaw(loaded.raw, of);
  const findings = lastRaw === undefined ? withSlips(found, loaded.raw, of) : withMisspelt(found, loaded.raw, lastRaw);
  const diagnostics = located(findings, text, origin);
  if (spec !== undefined && errorsOf(findings).length === 0) return { value: spec, diagnostics, isUsable: true };
  const mixed = readRaw(withFieldsOf(lastRaw, loaded.raw, findings), of).spec;
  return { value: (instead.isUsable ? mixed : undefined) ?? instead.value, diagnostics, isUsable: instead.isUsable };
}

const hintOf = ({ isUsable }: { readonly isUsable: boolean }): string =>
  isUsable ? "the last valid settings stay in force until it is corrected" : "";

const meantHint =
  "the last valid settings stay in force; correct the name or the text, or write {} where the defaults are meant";

const isNone = (value: unknown): boolean => value === undefined || value === null;
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
type LoadedText = { readonly raw: unknown } | { readonly message: string; readonly line: number };

function loadText(text: string): LoadedText {
  if (text.trim() === "") return { raw: {} };
  const reading = readYaml({ text, line: 1 });
  return reading.kind === "value" ? { raw: reading.value } : reading;
}

/** @returns no spec where some finding is an error */
function readRaw<Written, Spec>(
  raw: unknown,
  { schema: specSchema, complete }: SettingsKind<Written, Spec>,
): { readonly spec: Spec | undefined; readonly findings: readonly Finding[] } {
  const read = readSpec(specSchema, raw, { unknownFields: "ignore", emptyWhenNull: [] });
  const completed = read.spec === undefined ? undefined : complete(read.spec);
  const findings = [...read.findings, ...(completed?.findings ?? [])];
  const isRefused = errorsOf(findings).length > 0;
  return { spec: isRefused ? undefined : completed?.spec, findings };
}

/** A member by its name in either spelling. */
const memberOf = (value: unknown, name: string | number): unknown =>
  Array.isArray(value)
    ? value[Number(name)]
    : Object.entries(fieldsOf(value)).find(([own]) => camelFieldName(own) === camelFieldName(`${name}`))?.[1];

/** Whether a member has a value before, and none now. */
const isLost = (name: string, before: unknown, now: unknown): boolean =>
  !isNone(memberOf(before, name)) && isNone(memberOf(now, name));

/** The findings, with an error for each unknown field that is new where a field beside it is lost. */
function withMisspelt(findings: readonly Finding[], now: unknown, before: unknown): readonly Finding[] {
  return findings.map((finding) => {
    const { code, path, message, hint } = finding;
    const name = path.at(-1);
    if (code !== "unknown-field" || name === undefined) return finding;
    const [there, then] = [now, before].map((value) => path.slice(0, -1).reduce(memberOf, value));
    const lost = Object.keys(fieldsOf(then)).filter((own) => isLost(own, then, there));
    if (lost.length === 0 || !isNone(memberOf(then, name))) return finding;
    const stay = `what is gone beside it (${lost.slice(0, 3).join(", ")}${lost.length > 3 ? ", …" : ""}) stays as it was last valid`;
    return error(path, message, `${hint} ${stay}; if both are meant, make them one after the other`, code);
  });
}

/**
 * The findings, with an error for each unknown field of a folder that is a known one with a slip, or holds what belongs beside it: where
 * nothing is known that was valid before, the defaults would open what such a field closes.
 */
function withSlips<Written>(
  findings: readonly Finding[],
  now: unknown,
  { schema, isInFolder }: Pick<SettingsKind<Written, unknown>, "schema" | "isInFolder">,
): readonly Finding[] {
  if (!isInFolder) return findings;
  return findings.map((finding) => {
    const { code, path, message } = finding;
    const name = path.at(-1);
    if (code !== "unknown-field" || typeof name !== "string") return finding;
    const known = fieldsAt(schema, path.slice(0, -1));
    const there = path.slice(0, -1).reduce(memberOf, now);
    const meant = known.find((field) => isSlipOf(name, field));
    if (meant !== undefined)
      return isNone(memberOf(there, meant)) ? error(path, message, `did you mean "${meant}"?`, code) : finding;
    const isAround = wrappers.has(name) && Object.keys(fieldsOf(memberOf(there, name))).length > 0;
    return isAround ? error(path, message, `write what it holds without "${name}" around it`, code) : finding;
  });
}

/** What settings stand below elsewhere: in the ConfigMap, and in an IstioOperator. */
const wrappers: ReadonlySet<string> = new Set(["mesh", "meshConfig", "meshNetworks"]);

/** At most two letters apart, as a newer release's field may be near an older one by more; the case of letters aside. */
const isSlipOf = (written: string, field: string): boolean =>
  field.length > 4 &&
  written.length < 64 &&
  distance(written.replaceAll("_", "").toLowerCase(), field.toLowerCase()) <= 2;

/** Settings in which top-level fields with errors are as they were before, or absent where they were. */
export function withFieldsOf(before: unknown, now: unknown, findings: readonly Finding[]): unknown {
  const errors = errorsOf(findings);
  const keepsLost = errors.some(({ code, path }) => code === "unknown-field" && path.length === 1);
  const names = new Set(errors.map(({ path: [name] }) => (name === undefined ? undefined : camelFieldName(`${name}`))));
  if (names.has(undefined) || !isFields(now)) return before;
  const isRefused = ([name]: readonly [string, unknown]) => names.has(camelFieldName(name));
  return Object.fromEntries([
    ...Object.entries(now).filter((entry) => !isRefused(entry)),
    ...Object.entries(fieldsOf(before)).filter(
      (entry) => isRefused(entry) || (keepsLost && isLost(entry[0], before, now)),
    ),
  ]);
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
