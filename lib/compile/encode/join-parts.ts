import { column } from "../../incremental/column.ts";
import { internLongList, internValue } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { namesOf } from "../../incremental/names-of.ts";
import { query } from "../../incremental/query.ts";
import type { CompiledList, CompiledPart } from "../../snapshot/compiled.ts";
import { placeOfName } from "../../snapshot/nodes/name-search.ts";

/** Of each class. */
interface Sides {
  readonly shared: readonly CompiledPart[];
  readonly own: readonly CompiledPart[];
}

/**
 * For each class one list of what it shares with others and of what it has besides. The shared side is cut where own resources stand in
 * the order of names, and all classes that cut it there have the same pieces. Where that is depends on names alone: resources that
 * change under their names are put where those before them were.
 *
 * @param slot tells lists of classes apart when they are found again
 */
export function joinParts(memo: Memo, slot: string, { shared, own }: Sides): readonly CompiledList[] {
  const placed = placedBetween(memo, slot, { own, names: namesOfParts(memo, slot, { part: shared }) });
  const pieces = piecesOf(memo, slot, { shared, places: placesIn(memo, { placed }) });
  return joined(memo, slot, { placed, pieces });
}

const namesOfParts = column("names in parts", ["part"], (row: { readonly part: CompiledPart }, memo: Memo) =>
  namesInPart(memo, row),
);

/** One list for the parts of all shapes and changes that have the same names. */
const namesInPart = query(
  "names in a part",
  ({ part }: { readonly part: CompiledPart }, memo: Memo): readonly string[] =>
    internLongList(memo, "names in parts", namesOf(memo, "part", part)),
);

/** The own resources of a class in runs, and how many shared ones stand before each. */
interface Placed {
  readonly runs: readonly CompiledPart[];
  readonly places: readonly number[];
}

const nothingPlaced: Placed = { runs: [], places: [] };

const placedBetween = column(
  "places of own resources",
  ["own", "names"],
  ({ own, names }: { readonly own: CompiledPart; readonly names: readonly string[] }, memo: Memo): Placed => {
    if (own.length === 0) return nothingPlaced;
    const byPlace = Map.groupBy(own, ({ name }) => placeOfName(names, name, (other) => other));
    const runs = [...byPlace.values()];
    return { runs: runs.length === 1 ? [own] : runs, places: internValue(memo, [...byPlace.keys()]) };
  },
);

const placesIn = query("places in a column", ({ placed }: { readonly placed: readonly Placed[] }) =>
  placed.map(({ places }) => places),
);

/** What is shared, before the first of these places, between them, and after the last. */
const piecesOf = column(
  "pieces of shared parts",
  ["shared", "places"],
  (
    { shared, places }: { readonly shared: CompiledPart; readonly places: readonly number[] },
    memo: Memo,
  ): readonly CompiledPart[] =>
    [...places, shared.length].map((to, at) => slicePart(memo, { shared, from: places[at - 1] ?? 0, to })),
);

const nobody: CompiledPart = [];

const joined = column(
  "joined parts",
  ["placed", "pieces"],
  ({ placed, pieces }: { readonly placed: Placed; readonly pieces: readonly CompiledPart[] }): CompiledList => {
    const list: CompiledPart[] = [];
    // As often as there are classes: without what would be made of each step of an iteration.
    for (let at = 0; at < pieces.length; at++) {
      const piece = pieces[at] ?? nobody;
      if (piece.length > 0) list.push(piece);
      const run = placed.runs[at];
      if (run !== undefined) list.push(run);
    }
    return list;
  },
);

interface Cut {
  readonly shared: CompiledPart;
  readonly from: number;
  readonly to: number;
}

/** A piece of a part, which all lists that are cut there share. */
export const slicePart = query(
  "slice of a part",
  ({ shared, from, to }: Cut): CompiledPart => (from === 0 && to === shared.length ? shared : shared.slice(from, to)),
);
