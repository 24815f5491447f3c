import type { ConfigKey, Diagnostic, Stage } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { step } from "../mesh/memo/step.ts";
import type { CertificateSource } from "../mesh/world.ts";
import type { CompiledClass, CompiledList, CompiledResource, CompiledShape } from "../snapshot/compiled.ts";
import type { ResourceType, ShapeName } from "../snapshot/resource-type.ts";
import { defaultCertificateFiles, withCertificateFiles } from "../xds/certificate-files.ts";
import type { Reader } from "../xds/descriptors.ts";
import { allShared, type ClassResources, noResources, type Parted, type Resource } from "../xds/resource.ts";
import { pollShape } from "../xds/shape.ts";
import { type OfUnits, ofUnits, type StageOfUnits, type Unit, units } from "../xds/units.ts";
import { checkByElements } from "./check-by-elements.ts";
import { encodeResource } from "./encode-resource.ts";
import { joinParts } from "./join-parts.ts";

/** How the answers of a class are written. */
export interface ClassForm {
  readonly reader: Reader;
  readonly certificates: CertificateSource;
  readonly withBinary: boolean;
  readonly pollDelayMs?: number;
}

/**
 * Both shapes of a class's answers, unit by unit: a unit whose resources are what they were costs one look-up, and classes of the same
 * resources share it.
 *
 * @param form the same object for all classes that are written alike
 */
export function compileClass(
  id: string,
  resources: ClassResources,
  form: ClassForm,
  memo: Memo,
): StageOfUnits<CompiledClass> {
  const made = ofUnits((unit) => {
    const parts = partsOf(resources, unit);
    return parts.length === 0 ? nothing : compiledUnit(memo, { unit, form, parts });
  });
  const shapeOf = (shape: ShapeName): CompiledShape => ({
    ...noLists,
    ...made.clusters.value[shape],
    ...made.listeners.value[shape],
    ...made.routes.value[shape],
    ...made.names.value[shape],
  });
  return {
    value: { id, stream: shapeOf("stream"), poll: shapeOf("poll") },
    diagnostics: units.flatMap((unit) => made[unit].diagnostics),
    spoken: ofUnits((unit) => made[unit].diagnostics),
  };
}

const noLists: CompiledShape = { clusters: [], endpoints: [], listeners: [], routes: [] };
const noTypes: ClassResources = {
  clusters: allShared(noResources),
  endpoints: allShared(noResources),
  listeners: allShared(noResources),
  routes: allShared(noResources),
};

/** Those that few classes have come last. */
const typesOf = {
  clusters: ["clusters", "endpoints"],
  listeners: ["listeners", "extension_configs"],
  routes: ["routes"],
  names: ["name_tables"],
} as const satisfies OfUnits<readonly ResourceType[]>;

/** What a class has of the types of a unit: of each what is shared, and what is its own. */
const partsOf = (resources: ClassResources, unit: Unit): UnitInputs["parts"] =>
  typesOf[unit].flatMap((type) => {
    const parted = resources[type];
    return parted === undefined ? [] : [parted.shared, parted.own];
  });

interface UnitInputs {
  readonly unit: Unit;
  readonly form: ClassForm;
  readonly parts: readonly (readonly Resource[])[];
}

/** The lists of a unit's types. */
type CompiledUnit = Readonly<Record<ShapeName, Partial<CompiledShape>>>;

const nothing: Stage<CompiledUnit> = { value: { stream: {}, poll: {} }, diagnostics: [] };

const compiledUnit = step(
  "compiled unit of a class",
  { unit: "value", form: "identity", parts: "elements" },
  ({ unit, form, parts }: UnitInputs, memo: Memo): Stage<CompiledUnit> => {
    const types = typesOf[unit].filter((_type, at) => 2 * at < parts.length);
    const parted = types.map((type, at): readonly [ResourceType, Parted] => [
      type,
      { shared: parts[2 * at] ?? noResources, own: parts[2 * at + 1] ?? noResources },
    ]);
    const resources: ClassResources = { ...noTypes, ...Object.fromEntries(parted) };
    const { reader, certificates, pollDelayMs } = form;
    if (reader === "grpc") {
      // A program asks over streams, for certificates its bootstrap: its answers have one shape.
      const { value: only, diagnostics } = encodeTypes(types, resources, form, memo);
      return { value: { stream: only, poll: only }, diagnostics };
    }
    const streamed =
      certificates === "sds" ? resources : withCertificateFiles(resources, defaultCertificateFiles, memo);
    const stream = encodeTypes(types, streamed, form, memo);
    const poll = encodeTypes(types, pollShape(streamed, memo, { pollDelayMs }), form, memo);
    return {
      value: { stream: stream.value, poll: poll.value },
      diagnostics: [...stream.diagnostics, ...poll.diagnostics],
    };
  },
);

function encodeTypes(
  types: readonly ResourceType[],
  resources: ClassResources,
  { reader, withBinary }: ClassForm,
  memo: Memo,
): Stage<Partial<CompiledShape>> {
  const diagnostics: Diagnostic[] = [];
  const encode = (type: ResourceType): CompiledList => {
    const { shared: inCommon, own: besides } = resources[type] ?? allShared(noResources);
    const shared = encodedList(memo, { type, resources: inCommon, reader, withBinary });
    const own = encodedList(memo, { type, resources: besides, reader, withBinary });
    diagnostics.push(...shared.diagnostics, ...own.diagnostics);
    return joinParts(memo, { shared: shared.value, own: own.value });
  };
  return { value: Object.fromEntries(types.map((type) => [type, encode(type)])), diagnostics };
}

interface EncodeInputs {
  readonly type: ResourceType;
  readonly reader: Reader;
  readonly withBinary: boolean;
}

/** A resource that Envoy's descriptors refuse is left out and reported: it would cost its neighbours the whole answer. */
const encodedList = step(
  "encoded resources of a type",
  { type: "value", resources: "identity", reader: "value", withBinary: "value" },
  (
    { type, resources, reader, withBinary }: EncodeInputs & { readonly resources: readonly Resource[] },
    memo: Memo,
  ): Stage<readonly CompiledResource[]> => {
    const value: CompiledResource[] = [];
    const diagnostics: Diagnostic[] = [];
    for (const resource of resources) {
      // By the resource as a whole: a thousand classes share nearly all of theirs, so one look-up has to do.
      const encoded = checkedAndEncoded(memo, { type, resource, reader, withBinary });
      if (encoded.kind === "accepted") value.push(encoded.compiled);
      else diagnostics.push(encoded.diagnostic);
    }
    return { value, diagnostics };
  },
);

type Encoded =
  | { readonly kind: "accepted"; readonly compiled: CompiledResource }
  | { readonly kind: "refused"; readonly diagnostic: Diagnostic };

const checkedAndEncoded = step(
  "checked and encoded resource",
  { type: "value", resource: "identity", reader: "value", withBinary: "value" },
  ({ type, resource, reader, withBinary }: EncodeInputs & { readonly resource: Resource }, memo: Memo): Encoded => {
    const { json, name, from } = resource;
    const diagnostic = checked(memo, { type, reader, json, name, object: from[0] });
    return diagnostic === undefined
      ? { kind: "accepted", compiled: encodeResource(type, resource, withBinary, memo) }
      : { kind: "refused", diagnostic };
  },
);

interface Checked extends Pick<EncodeInputs, "type" | "reader">, Pick<Resource, "json" | "name"> {
  /** The first of those that it was made from. */
  readonly object: ConfigKey | undefined;
}

/** By the message, its name and the object that it is told of: a diagnostic says the latter two. */
const checked = step(
  "checked resource",
  { type: "value", reader: "value", json: "identity", name: "value", object: "identity" },
  ({ type, reader, object, ...message }: Checked, memo: Memo) =>
    checkByElements(type, { ...message, from: object === undefined ? [] : [object] }, memo, reader),
);
