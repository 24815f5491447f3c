import type { Diagnostic, Stage } from "../config/diagnostic.ts";
import { column } from "../mesh/memo/column.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { step } from "../mesh/memo/step.ts";
import type { CertificateSource } from "../mesh/world.ts";
import type { CompiledClass, CompiledList, CompiledPart, CompiledShape } from "../snapshot/compiled.ts";
import type { ResourceType, ShapeName } from "../snapshot/resource-type.ts";
import { defaultCertificateFiles, withCertificateFiles } from "../xds/certificate-files.ts";
import type { Reader } from "../xds/descriptors.ts";
import { type ClassResources, noResources, noTypes, type Parted, type Resource } from "../xds/resource.ts";
import { pollShape } from "../xds/shape.ts";
import { type GeneratedUnit, type OfUnits, typesOf, type Unit } from "../xds/units.ts";
import { encodedList } from "./encoded-list.ts";
import { joinParts } from "./join-parts.ts";

/** How the answers of a class are written. */
export interface ClassForm {
  readonly reader: Reader;
  readonly certificates: CertificateSource;
  readonly withBinary: boolean;
  readonly pollDelayMs?: number;
}

/** A class's answers, and what making them had to say. */
export interface OfClass {
  readonly value: CompiledClass;
  readonly spoken: OfUnits<readonly Diagnostic[]>;
}

/** The lists of a unit's types. */
export type CompiledUnit = Stage<Readonly<Record<ShapeName, Partial<CompiledShape>>>>;

interface UnitInputs {
  readonly unit: Unit;
  /** Of each class. */
  readonly generated: readonly GeneratedUnit[];
  /** The same object for all classes that are written alike. */
  readonly form: ClassForm;
  /** Tells lists of classes apart when they are found again. */
  readonly slot: string;
}

/**
 * Both shapes of one unit of many classes, with all that making it had to say. What classes share and what they have besides are gone over
 * apart, and joined then: either costs what is new in it, and a unit in which nothing is new costs a look.
 */
export const compileUnits = step(
  "compiled units of classes",
  { unit: "value", generated: "identity", form: "identity", slot: "value" },
  ({ unit, generated, form, slot }: UnitInputs, memo: Memo): readonly CompiledUnit[] => {
    const place = `${unit}|${slot}`;
    const forAll = <T>(value: T): readonly T[] => generated.map(() => value);
    const [first, second] = typesOf[unit];
    const listsOf = (type: ResourceType | undefined, side: keyof Parted) =>
      generated.map(({ value }) => (type === undefined ? undefined : value[type]?.[side]));
    const sidesOf = (side: keyof Parted): readonly CompiledSide[] =>
      compiledSides(memo, `${place}|${side}`, {
        first: listsOf(first, side),
        second: listsOf(second, side),
        beside: side === "own" ? generated.map(({ value }) => assignmentsBeside(value)) : forAll(noResources),
        how: forAll(sideForm(memo, { side, unit, form })),
      });
    const [shared, own] = [sidesOf("shared"), sidesOf("own")];
    const joinedIn = (shape: ShapeName, at: 0 | 1): readonly CompiledList[] =>
      joinParts(memo, `${place}|${shape}|${at}`, {
        shared: shared.map((side) => side[shape][at]),
        own: own.map((side) => side[shape][at]),
      });
    const hasSecond = second !== undefined && generated.some(({ value }) => value[second] !== undefined);
    return compiledUnits(memo, place, {
      pollFirst: joinedIn("poll", 0),
      pollSecond: hasSecond ? joinedIn("poll", 1) : forAll(noList),
      streamFirst: joinedIn("stream", 0),
      streamSecond: hasSecond ? joinedIn("stream", 1) : forAll(noList),
      said: generated.map(({ diagnostics }) => diagnostics),
      saidOfShared: shared.map(({ diagnostics }) => diagnostics),
      saidOfOwn: own.map(({ diagnostics }) => diagnostics),
      first: generated.map(({ value }) => (value[first] === undefined ? undefined : first)),
      second: generated.map(({ value }) => (second === undefined || value[second] === undefined ? undefined : second)),
    });
  },
);

const noList: CompiledList = [];

/** The load assignments among which own clusters may have theirs, beside the class's own. */
const assignmentsBeside = ({ clusters, endpoints }: Partial<ClassResources>): readonly Resource[] =>
  clusters?.own.some(({ json }) => "type" in json && json.type === "EDS") === true && endpoints !== undefined
    ? endpoints.shared
    : noResources;

interface SideRow {
  /** Of the unit's types; undefined for one that the class has not. */
  readonly first: readonly Resource[] | undefined;
  readonly second: readonly Resource[] | undefined;
  readonly beside: readonly Resource[];
  readonly how: SideForm;
}

interface SideForm {
  readonly side: keyof Parted;
  readonly unit: Unit;
  readonly form: ClassForm;
}

/** One object for all classes. */
const sideForm = step(
  "form of a side",
  { side: "value", unit: "value", form: "identity" },
  (form: SideForm): SideForm => form,
);

/** By type. */
type Parts = readonly [CompiledPart, CompiledPart];

interface CompiledSide extends Readonly<Record<ShapeName, Parts>> {
  readonly diagnostics: readonly Diagnostic[];
}

const compiledSides = column(
  "compiled sides of units",
  ["first", "second", "beside", "how"],
  ({ first = noResources, second = noResources, beside, how }: SideRow, memo: Memo): CompiledSide => {
    const { side, unit, form } = how;
    const parted = (list: readonly Resource[]): Parted => ({ shared: noResources, own: noResources, [side]: list });
    const [one, other] = typesOf[unit];
    const resources: ClassResources = {
      ...noTypes,
      ...(other === undefined ? {} : { [other]: parted(second) }),
      ...(beside.length === 0 ? {} : { endpoints: { shared: beside, own: second } }),
      [one]: parted(first),
    };
    const { reader, certificates, pollDelayMs } = form;
    const encode = (all: ClassResources, type: ResourceType | undefined) =>
      type === undefined
        ? nothing
        : encodedList(memo, { type, resources: all[type]?.[side] ?? noResources, reader, withBinary: form.withBinary });
    const encodeAll = (all: ClassResources): Stage<Parts> => {
      const [a, b] = [encode(all, one), encode(all, other)];
      return { value: [a.value, b.value], diagnostics: [...a.diagnostics, ...b.diagnostics] };
    };
    // Else they are files beside the proxy.
    const fetched = certificates === "sds" || reader === "grpc";
    const streamed = fetched ? resources : withCertificateFiles(resources, defaultCertificateFiles, memo);
    const stream = encodeAll(streamed);
    // A program asks over streams, for certificates its bootstrap: its answers have one shape.
    if (reader === "grpc") return { stream: stream.value, poll: stream.value, diagnostics: stream.diagnostics };
    const poll = encodeAll(pollShape(streamed, memo, { pollDelayMs }));
    return { stream: stream.value, poll: poll.value, diagnostics: [...stream.diagnostics, ...poll.diagnostics] };
  },
);

const nothing: Stage<CompiledPart> = { value: [], diagnostics: [] };

interface UnitRow {
  readonly pollFirst: CompiledList;
  readonly pollSecond: CompiledList;
  readonly streamFirst: CompiledList;
  readonly streamSecond: CompiledList;
  readonly said: readonly Diagnostic[];
  readonly saidOfShared: readonly Diagnostic[];
  readonly saidOfOwn: readonly Diagnostic[];
  /** The types that the class has. */
  readonly first: ResourceType | undefined;
  readonly second: ResourceType | undefined;
}

const compiledUnits = column(
  "compiled units",
  ["pollFirst", "pollSecond", "streamFirst", "streamSecond", "said", "saidOfShared", "saidOfOwn", "first", "second"],
  ({ first, second, ...row }: UnitRow): CompiledUnit => {
    const shapeOf = (ofFirst: CompiledList, ofSecond: CompiledList): Partial<CompiledShape> => {
      const shape: { -readonly [Type in ResourceType]?: CompiledList } = {};
      if (first !== undefined) shape[first] = ofFirst;
      if (second !== undefined) shape[second] = ofSecond;
      return shape;
    };
    return {
      value: {
        stream: shapeOf(row.streamFirst, row.streamSecond),
        poll: shapeOf(row.pollFirst, row.pollSecond),
      },
      diagnostics: [...row.said, ...row.saidOfShared, ...row.saidOfOwn],
    };
  },
);
