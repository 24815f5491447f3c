import { type Diagnostic, errorsOf, fileOrigin, PortolanError, type Stage } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, textOf } from "../../base/untyped.ts";
import type { Config } from "../../config/config.ts";
import { asParsed } from "../../config/documents/as-parsed.ts";
import { fromOldSpelling } from "../../config/documents/old-spelling.ts";
import type { ParsedObject } from "../../config/documents/parse.ts";
import { closeObject } from "../../config/fail-closed/close-object.ts";
import type { ClosedObject } from "../../config/fail-closed/closed-object.ts";
import { mayProtect, protects } from "../../config/fail-closed/protecting-kinds.ts";
import { at, warning } from "../../config/finding.ts";
import { isConfig } from "../../config/folder/sort-objects.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { MeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { kubernetesKindOf } from "../../config/kubernetes/kinds.ts";
import { type ReadOptions, readConfig } from "../../config/read-config.ts";
import { type ReadSettings, readMeshConfig, readMeshNetworks } from "../../config/read-mesh-config.ts";
import type { ConsulListing } from "../../registry/consul/convert.ts";
import { readStoredService } from "../../registry/consul/stored-service.ts";
import type { OriginAbout, OriginObject } from "../../registry/origin/origin.ts";
import type { CollectedShard } from "./collected-shard.ts";
import { type SettingsField, settingsKey } from "./last-settings.ts";

/** What one object of an origin comes to. */
export interface ReadObject {
  readonly config?: Config;
  /** Kubernetes' own, or of a kind that nothing here knows. */
  readonly object?: ParsedObject;
  readonly other?: ParsedObject;
  readonly meshConfig?: MeshConfig;
  readonly meshNetworks?: MeshNetworks;
  /** As `LoadedDirectory` has it. */
  readonly unusableSettings?: readonly Diagnostic[];
  readonly consul?: ConsulListing;
  /** It is configuration that is refused. */
  readonly isRefused?: boolean;
  /** What closes what a refused security object selects. */
  readonly closed?: ClosedObject;
  readonly diagnostics: readonly Diagnostic[];
}

export interface CollectedReadOptions extends Pick<ReadOptions, "inlineSymmetricKeys"> {
  /** The last valid text of a field of the mesh's settings; none is known when absent. */
  readonly lastSettings?: (field: SettingsField) => string | undefined;
}

/** Reads an object as its origin gave it. */
export function readCollected(
  { about, name: source }: CollectedIn,
  origin: OriginObject,
  { inlineSymmetricKeys = "refuse", lastSettings = () => undefined }: CollectedReadOptions = {},
): ReadObject {
  if (about.kind === "consul") return readConsul(source, origin);
  const { object, version } = origin;
  const metadata = fieldsOf(object.metadata);
  const place = placeOf(about, source, textOf(metadata.namespace), version);
  const parsed = asParsed({ ...object, metadata: { ...metadata, resourceVersion: version } }, place);
  if (isConfig(parsed)) {
    const { value, diagnostics } = readFromServer(parsed, about, inlineSymmetricKeys);
    if (value !== undefined) return { config: value, diagnostics };
    const closed = closeObject(fromOldSpelling(parsed), diagnostics);
    return { isRefused: true, ...(closed === undefined ? {} : { closed }), diagnostics };
  }
  if (origin.key === settingsKey) return readSettings(fieldsOf(parsed.data), place, lastSettings);
  const isKnown = kubernetesKindOf(parsed.origin.key.group, parsed.kind) !== undefined;
  return { ...(isKnown ? { object: parsed } : { other: parsed }), diagnostics: [] };
}

/**
 * Reads configuration as a server holds it. The server has refused or dropped what it does not know; what is new to us is new in its
 * release, and is ignored. Where it may protect something it is refused: of a kind that protects, and of TLS settings.
 */
function readFromServer(
  parsed: ParsedObject,
  { kind }: OriginAbout,
  inlineSymmetricKeys: NonNullable<ReadOptions["inlineSymmetricKeys"]>,
): Stage<Config | undefined> {
  const names = kind === "mcp" ? "free" : "checked";
  const as = (unknownFields: NonNullable<ReadOptions["unknownFields"]>) =>
    readConfig(parsed, { unknownFields, names, isFromServer: true, inlineSymmetricKeys, acceptUnknownTypes: true });
  const { key } = fromOldSpelling(parsed).origin;
  if (protects(key)) return as("refuse");
  const read = as("ignore");
  const isLost = ({ code, path }: Diagnostic) => code === "unknown-field" && mayProtect(key, parsed.spec, path);
  return read.diagnostics.some(isLost) ? as("refuse") : read;
}

/** A service that no collector has written is left out: it must not cost its neighbours the compile. */
function readConsul(source: string, { key, object }: OriginObject): ReadObject {
  const file = `source ${source}`;
  try {
    return { consul: readStoredService(object, file), diagnostics: [] };
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    const message = `${key.slice(0, 200)} is no service of Consul as a collector writes it, and is left out`;
    const hint = "restart the source's collector: it writes again what differs";
    const origin = fileOrigin(file);
    return { diagnostics: [{ code: "invalid-value", severity: "error", origin, path: [], message, hint }] };
  }
}

type CollectedIn = Pick<CollectedShard, "about" | "name">;

/** Where an object stands, for people. */
function placeOf(about: OriginAbout, source: string, namespace: string, version: string): string {
  if (about.kind !== "kubernetes") return `source ${source}${version === "" ? "" : `, version ${version}`}`;
  const parts = [
    `cluster ${about.cluster}`,
    ...(namespace === "" ? [] : [`namespace ${namespace}`]),
    ...(version === "" ? [] : [`resourceVersion ${version}`]),
  ];
  return parts.join(", ");
}

/** The mesh's settings, as Istio's installation keeps them. */
function readSettings(
  { mesh, meshNetworks }: Fields,
  place: string,
  lastSettings: NonNullable<CollectedReadOptions["lastSettings"]>,
): ReadObject {
  const ofField = <Spec>(
    field: SettingsField,
    value: unknown,
    read: ReadText<Spec>,
  ): ReadSettings<Spec> | undefined => {
    const text = typeof value === "string" ? value : undefined;
    const last = lastSettings(field);
    return text === undefined && last === undefined ? undefined : read(text, place, last);
  };
  const config = ofField("mesh", mesh, readMeshConfig);
  const networks = ofField("meshNetworks", meshNetworks, readMeshNetworks);
  const read = [config, networks].filter((one) => one !== undefined);
  const unusable = read.filter(({ isUsable }) => !isUsable).flatMap(({ diagnostics }) => errorsOf(diagnostics));
  return {
    ...(config === undefined ? {} : { meshConfig: config.value }),
    ...(networks === undefined ? {} : { meshNetworks: networks.value }),
    ...(unusable.length === 0 ? {} : { unusableSettings: unusable }),
    diagnostics: [...read.flatMap(({ diagnostics }) => diagnostics), ...read.flatMap(lastSettingsStay)],
  };
}

type ReadText<Spec> = (text: string | undefined, place: string, last: string | undefined) => ReadSettings<Spec>;

/** The last valid settings, which lie beside no ConfigMap: there was one, and they stay in force. */
export function readGoneSettings({ about, name: source }: CollectedIn, { object }: OriginObject): ReadObject {
  const field = textOf(fieldsOf(object.metadata).name);
  const place = placeOf(about, source, "istio-system", "");
  return readSettings({}, place, (one) => (one === field ? textOf(object.text) : undefined));
}

function lastSettingsStay({ isUsable, diagnostics }: ReadSettings<unknown>): readonly Diagnostic[] {
  const [first] = errorsOf(diagnostics);
  if (first === undefined || !isUsable) return [];
  const stay = warning(
    [],
    "settings with errors are as they were last valid; the others are as they are written",
    "correct them; nothing was taken down",
    "last-valid-served",
  );
  return [at(first.origin, stay)];
}
