import type { Diagnostic, Stage } from "../base/diagnostic.ts";
import type { Reader } from "../descriptors/messages.ts";
import { column } from "../incremental/column.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { forAll } from "../incremental/rearranged.ts";
import type { CertificateSource } from "../mesh/world.ts";
import type { CompiledClass, CompiledList, CompiledPart, ListColumns } from "../snapshot/compiled.ts";
import type { ResourceType, ShapeName } from "../snapshot/resource-type.ts";
import { defaultCertificateFiles, withCertificateFiles } from "../xds/certificate-files.ts";
import { type ClassResources, noResources, noTypes, type Parted, type Resource } from "../xds/resource.ts";
import { pollShape, streamShape } from "../xds/shape.ts";
import { type GeneratedColumns, type OfUnits, typesOf, type Unit } from "../xds/units.ts";
import { encodedList } from "./encode/encoded-list.ts";
import { joinParts } from "./encode/join-parts.ts";

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
  readonly reported: OfUnits<readonly Diagnostic[]>;
}

/** The lists of a unit's types for many classes, a row for each, and what making them had to say. */
export interface CompiledColumns {
  readonly first: ListColumns;
  /** Absent where no class has any of the unit's second type. */
  readonly second: ListColumns | undefined;
  readonly diagnostics: readonly (readonly Diagnostic[])[];
}

interface UnitInputs {
  readonly unit: Unit;
  readonly generated: GeneratedColumns;
  /** The same object for all classes that are written alike. */
  readonly form: ClassForm;
  /** Tells lists of classes apart when they are found again. */
  readonly slot: string;
}

/**
 * Both shapes of one unit of many classes, with all that making it had to say. What classes share and what they have besides are gone over
 * apart, and joined then: either costs what is new in it.
 */
export function compileUnits(memo: Memo, { unit, generated, form, slot }: UnitInputs): CompiledColumns {
  const place = `${unit}|${slot}`;
  const { first, second, diagnostics } = generated;
  const rows = diagnostics.length;
  const noneInAll: readonly (readonly Resource[])[] = forAll(memo, `${slot}|no resources`, noResources, rows);
  const sideOf = (side: keyof Parted): readonly CompiledSide[] =>
    compiledSides(memo, `${place}|${side}`, {
      first: first[side],
      second: second?.[side] ?? noneInAll,
      beside: (side === "own" ? assignmentsBeside(memo, place, unit, generated) : undefined) ?? noneInAll,
      how: forAll(memo, `${place}|${side}`, sideForm(memo, { side, unit, form }), rows),
    });
  const [shared, own] = [sideOf("shared"), sideOf("own")];
  const joined = (shape: ShapeName, at: 0 | 1): readonly CompiledList[] =>
    joinParts(memo, `${place}|${shape}|${at}`, {
      shared: partsOf(memo, { sides: shared, shape, at }),
      own: partsOf(memo, { sides: own, shape, at }),
    });
  const bothShapes = (at: 0 | 1): ListColumns => ({ stream: joined("stream", at), poll: joined("poll", at) });
  const hasSecond = second?.shared.some((side) => side !== undefined) === true;
  return {
    first: bothShapes(0),
    second: hasSecond ? bothShapes(1) : undefined,
    diagnostics: allSaid(memo, place, {
      generated: diagnostics,
      ofShared: saidOf(memo, { sides: shared }),
      ofOwn: saidOf(memo, { sides: own }),
    }),
  };
}

/** The parts of one type and shape; the same column as long as the sides are. */
const partsOf = query(
  "parts of sides",
  ({ sides, shape, at }: { readonly sides: readonly CompiledSide[]; readonly shape: ShapeName; readonly at: 0 | 1 }) =>
    sides.map((side) => side[shape][at]),
);

const saidOf = query("diagnostics of sides", ({ sides }: { readonly sides: readonly CompiledSide[] }) =>
  sides.map((side) => side.diagnostics),
);

/** The load assignments among which own clusters may have theirs, beside the class's own; undefined where no class has such clusters. */
function assignmentsBeside(
  memo: Memo,
  slot: string,
  unit: Unit,
  { first, second }: GeneratedColumns,
): readonly (readonly Resource[])[] | undefined {
  const ask = unit === "clusters" ? askForEndpoints(memo, slot, { own: first.own }) : [];
  return ask.includes(true) ? ask.map((asks, row) => (asks && second?.shared[row]) || noResources) : undefined;
}

const askForEndpoints = column(
  "own clusters that ask",
  ["own"],
  ({ own = noResources }: { readonly own: readonly Resource[] | undefined }): boolean =>
    own.some(({ json }) => "type" in json && json.type === "EDS"),
);

interface Said {
  readonly generated: readonly Diagnostic[];
  readonly ofShared: readonly Diagnostic[];
  readonly ofOwn: readonly Diagnostic[];
}

const allSaid = column(
  "diagnostics of units",
  ["ofOwn", "ofShared", "generated"],
  ({ generated, ofShared, ofOwn }: Said): readonly Diagnostic[] => said([...generated, ...ofShared, ...ofOwn]),
);

const nothingSaid: readonly Diagnostic[] = [];

/** Of most classes nothing is said: they are alike in that, by identity. */
const said = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.length === 0 ? nothingSaid : diagnostics;

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
const sideForm = query("form of a side", (form: SideForm): SideForm => form);

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
    const stream = encodeAll(streamShape(streamed, memo));
    // A program asks over streams, for certificates its bootstrap: its answers have one shape.
    if (reader === "grpc") return { stream: stream.value, poll: stream.value, diagnostics: said(stream.diagnostics) };
    const poll = encodeAll(pollShape(streamed, memo, { pollDelayMs }));
    return { stream: stream.value, poll: poll.value, diagnostics: said([...stream.diagnostics, ...poll.diagnostics]) };
  },
);

const nothing: Stage<CompiledPart> = { value: [], diagnostics: [] };
