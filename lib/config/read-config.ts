import type { Diagnostic, Origin, Stage } from "../base/diagnostic.ts";
import type { DiagnosticCode } from "../base/diagnostic-codes.ts";
import { type Config, type ConfigMeta, defaultCreationTimeMs } from "./config.ts";
import { fromOldSpelling } from "./documents/old-spelling.ts";
import type { ParsedObject, SourceOf } from "./documents/parse.ts";
import { at, cutFindings, type Finding, info, warning } from "./finding.ts";
import { schemaOf } from "./kind-registry.ts";
import type { KindSchema } from "./kind-schema.ts";
import { structureFindings } from "./kubernetes/structure.ts";
import { envelopeRules } from "./rules/envelope.ts";
import { metadataRules } from "./rules/metadata.ts";
import { groupVersion } from "./values/group-version.ts";

export interface ReadOptions {
  /** Domain suffix of the mesh; `cluster.local` when absent. */
  readonly domain?: string;
  /** Namespace of objects that name none; `default` when absent. */
  readonly namespace?: string;
  /** `refuse` when absent. */
  readonly unknownFields?: "refuse" | "ignore";
  /** The object came from a server, which has checked its metadata. False when absent. */
  readonly isFromServer?: boolean;
  /** `free`: names of objects are not checked, as in a program's own memory and in what another server names; only an API server does. `checked` when absent. */
  readonly names?: "checked" | "free";
  /** Whether a `jwks` may hold symmetric keys; `refuse` when absent. */
  readonly inlineSymmetricKeys?: "allow" | "refuse";
  /**
   * Whether a patch of an EnvoyFilter may hold messages of types that are not known here. Whoever compiles decides that later, by the settings of
   * the mesh. False when absent.
   */
  readonly acceptUnknownTypes?: boolean;
  /** Nothing is to be said of any object, as somebody knows who has read the very text: faults are not looked for. False when absent. */
  readonly skipRules?: boolean;
  /** Lets diagnostics name the line of the field instead of the line of the object. */
  readonly sourceOf?: SourceOf;
}

/** Codes of findings that are none, as the options have it. */
function allowedBy({ inlineSymmetricKeys, acceptUnknownTypes = false }: ReadOptions): ReadonlySet<DiagnosticCode> {
  const codes: DiagnosticCode[] = [];
  if (inlineSymmetricKeys === "allow") codes.push("inline-symmetric-key");
  if (acceptUnknownTypes) codes.push("envoy-filter-unknown-type");
  return new Set(codes);
}

/**
 * Reads an object as configuration: validated, defaults applied, durations canonical.
 *
 * @returns undefined for an object that is refused (its diagnostics say why) and for a kind that is no configuration
 */
export function readConfig(parsed: ParsedObject, options: ReadOptions = {}): Stage<Config | undefined> {
  const object = fromOldSpelling(parsed);
  const { group, version } = groupVersion(object.apiVersion);
  const schema = schemaOf(group, object.kind);
  if (schema === undefined) return { value: undefined, diagnostics: [] };

  const meta = metaOf(object, schema, version, options);
  const origin: Origin = {
    ...object.origin,
    key: { group: meta.group, kind: meta.kind, name: meta.name, namespace: meta.namespace },
  };
  const { unknownFields = "refuse", skipRules = false } = options;
  const reading = schema.read(object.spec, meta, unknownFields, skipRules, allowedBy(options), object.status);
  const findings: Finding[] = skipRules
    ? []
    : [
        ...metadataRules(object, schema, options.names === "free"),
        ...envelopeFindings(object, options),
        ...kubernetesFindings(object, schema, version, unknownFields),
        ...reading.findings,
        ...(schema.noEffect === undefined ? [] : [info([], schema.noEffect)]),
      ];

  const refused = reading.spec === undefined || findings.some((finding) => finding.severity === "error");
  const value = refused
    ? undefined
    : { meta, spec: reading.spec, ...(object.status === undefined ? {} : { status: object.status }), origin };
  return { value, diagnostics: located(findings, parsed, origin, options.sourceOf) };
}

function envelopeFindings(object: ParsedObject, options: ReadOptions): readonly Finding[] {
  const found = envelopeRules(object, options.isFromServer === true);
  if (options.unknownFields !== "ignore") return found;
  return found.map(({ path, message, hint, code }) => warning(path, message, hint, code));
}

/** Kubernetes' own kinds have more fields than are read here; which ones, its own table says. */
function kubernetesFindings(
  object: ParsedObject,
  { group, kind }: KindSchema,
  version: string,
  unknownFields: NonNullable<ReadOptions["unknownFields"]>,
): readonly Finding[] {
  if (group !== "networking.k8s.io" || version !== "v1") return [];
  return structureFindings(object, kind, [], ["origin", "metadata"])
    .filter(({ code }) => code === "unknown-field")
    .map((finding) =>
      unknownFields === "refuse" ? finding : warning(finding.path, finding.message, finding.hint, finding.code),
    );
}

/** The namespace of an object of a namespaced kind. @param written its own, if it names one */
export const namespaceOf = (written: string | undefined, options: Pick<ReadOptions, "namespace">): string =>
  written ?? options.namespace ?? "default";

/** The metadata of an object; what is no text where one is wanted is left out. */
export function metaOf(object: ParsedObject, schema: KindSchema, version: string, options: ReadOptions): ConfigMeta {
  const { name, namespace } = object.metadata;
  const created = object.metadata.creationTimestamp;
  const createdMs = typeof created === "string" ? Date.parse(created) : Number.NaN;
  const { resourceVersion, generation, uid } = object.metadata;
  return {
    kind: schema.kind,
    group: schema.group,
    version,
    name,
    namespace: schema.clusterScoped ? "" : namespaceOf(namespace, options),
    domain: options.domain ?? "cluster.local",
    labels: texts(object.metadata.labels),
    annotations: texts(object.metadata.annotations),
    resourceVersion: typeof resourceVersion === "string" ? resourceVersion : "",
    creationTimestampMs: Number.isNaN(createdMs) ? defaultCreationTimeMs : createdMs,
    ...(typeof generation === "number" ? { generation } : {}),
    ...(typeof uid === "string" ? { uid } : {}),
  };
}

/** The members of an object that are texts; the others are findings of their own. */
function texts(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/**
 * Findings as diagnostics, cut by `cutFindings`; those about a field have the line of the field where the source is at hand.
 */
export function located(
  all: readonly Finding[],
  object: ParsedObject,
  origin: Origin,
  sourceOf: SourceOf | undefined,
): readonly Diagnostic[] {
  if (all.length === 0) return [];
  const findings = cutFindings(all);
  const source = findings.some((finding) => finding.severity !== "info") ? sourceOf?.(object) : undefined;
  if (source === undefined) return findings.map((finding) => at(origin, finding));
  const positions = source.locator.locateAll(findings.map((finding) => [...source.path, ...finding.path]));
  return findings.map((finding, index) =>
    finding.path.length === 0
      ? at(origin, finding)
      : at({ ...origin, line: positions[index]?.line ?? origin.line }, finding),
  );
}
