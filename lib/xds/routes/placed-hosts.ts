import type { VirtualHostJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import { ChunkedList } from "../../config/chunked-list.ts";
import { CacheEntries } from "../../incremental/cache-entries.ts";
import { changedIndexes, type ReadonlyList, withValues } from "../../incremental/list-delta.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { areOfSameObjects, jsonOf, type VirtualHostPiece } from "./virtual-host.ts";

/** In the order of names, for each virtual host that would like to be in a table; undefined for one that gets no domains. */
type Places = readonly (number | undefined)[];

/** Who stands where. */
export interface Placement {
  /** How many have a place. */
  readonly count: number;
  /** Of those that virtual services bring, one virtual service after the other. */
  readonly places: Places;
  readonly placesOfOthers: Places;
  /** By place, the domains of those that do not get all that they claim. */
  readonly trimmed: ReadonlyMap<number, readonly string[]>;
}

interface Placeable {
  readonly piece: VirtualHostPiece;
}

/** Virtual hosts and their places. */
export interface SettledHosts {
  /** By the virtual service that brings them. */
  readonly brought: readonly { readonly hosts: readonly Placeable[] }[];
  readonly others: readonly Placeable[];
  readonly placement: Placement;
  /** Tells those of one table and class from others when they are found again. */
  readonly slot: string;
}

/** A list of what virtual hosts come to in a table, and who stands behind them all, if anybody does. */
type Placed<L> = (memo: Memo, hosts: SettledHosts, last?: VirtualHostPiece) => L;

interface MadeOf<L> extends SettledHosts {
  readonly last: VirtualHostPiece | undefined;
  readonly list: L;
}

/** How such lists are made. */
interface Making<T, L extends ReadonlyList<T>> {
  readonly of: (piece: VirtualHostPiece) => T;
  readonly listOf: (all: readonly T[]) => L;
  readonly withOthers: (list: L, places: readonly number[], values: readonly T[]) => L;
  /** Whether two say the same, and the one of before is kept. */
  readonly alike: (before: T, now: T) => boolean;
}

/**
 * As long as the places stay, only what other virtual services bring is put there anew: most changes are of the routes of one, and each
 * table of thousands of hosts has it.
 */
function placed<T, L extends ReadonlyList<T>>(kind: string, making: Making<T, L>): Placed<L> {
  const made = new CacheEntries<MadeOf<L>>(kind);
  return (memo, hosts, last) => {
    const before = made.last(memo, hosts.slot);
    const isSame = before?.placement === hosts.placement && before.others === hosts.others && before.last === last;
    const changed = isSame ? changedIndexes(before.brought, hosts.brought) : undefined;
    const list =
      before === undefined || changed === undefined
        ? making.listOf(allPlaced(memo, hosts, making.of, last))
        : placedAgain(memo, hosts, changed, before.list, making);
    made.keep(memo, hosts.slot, { ...hosts, last, list });
    return list;
  };
}

const asArrays = { listOf: <T>(all: readonly T[]) => all, withOthers: withValues };

export const placedPieces = placed<VirtualHostPiece, readonly VirtualHostPiece[]>("placed virtual hosts", {
  ...asArrays,
  of: (piece) => piece,
  alike: Object.is,
});

/** As they stand in the table. */
export const placedJson = placed<VirtualHostJson, ChunkedList<VirtualHostJson>>("placed JSON of virtual hosts", {
  of: jsonOf,
  listOf: ChunkedList.of,
  withOthers: (list, places, values) => list.with(places, values),
  alike: Object.is,
});

/** Pieces with the objects behind the virtual hosts: the same list as long as these are the same, whatever their routes are. */
export const placedOwners = placed<VirtualHostPiece, readonly VirtualHostPiece[]>("placed owners of virtual hosts", {
  ...asArrays,
  of: (piece) => piece,
  alike: areOfSameObjects,
});

function allPlaced<T>(
  memo: Memo,
  hosts: SettledHosts,
  of: (piece: VirtualHostPiece) => T,
  last: VirtualHostPiece | undefined,
): readonly T[] {
  const { others, placement } = hosts;
  const { trimmed, placesOfOthers, count } = placement;
  // What virtual services bring has its place among the others, which most changes leave as they were.
  const list = placedOthers(memo, { others, placesOfOthers, trimmed, count }).map((piece) => piece && of(piece));
  placeBrought(memo, hosts, [...hosts.brought.keys()], (place, piece) => {
    list[place] = of(piece);
  });
  if (last !== undefined) list.push(of(last));
  // Every place is somebody's.
  return list as readonly T[];
}

function placedAgain<T, L extends ReadonlyList<T>>(
  memo: Memo,
  hosts: SettledHosts,
  changed: readonly number[],
  list: L,
  { of, withOthers, alike }: Making<T, L>,
): L {
  const places: number[] = [];
  const values: T[] = [];
  placeBrought(memo, hosts, changed, (place, piece) => {
    const value = of(piece);
    if (alike(list.at(place) as T, value)) return;
    places.push(place);
    values.push(value);
  });
  return withOthers(list, places, values);
}

/** Puts what some virtual services bring into its place. @param which ascending */
function placeBrought(
  memo: Memo,
  { brought, placement: { places, trimmed } }: SettledHosts,
  which: readonly number[],
  put: (place: number, piece: VirtualHostPiece) => void,
): void {
  let [of, at] = [0, 0];
  // Plain loops: every table goes over all virtual services, and an iterator makes an object for each.
  for (const next of which) {
    for (; of < next; of++) at += brought[of]?.hosts.length ?? 0;
    const hosts = brought[next]?.hosts ?? [];
    for (let own = 0; own < hosts.length; own++) {
      const [place, piece] = [places[at + own], hosts[own]?.piece];
      if (place !== undefined && piece !== undefined) put(place, pieceAt(memo, piece, trimmed.get(place)));
    }
  }
}

interface OthersPlaced extends Pick<SettledHosts, "others">, Pick<Placement, "placesOfOthers" | "trimmed" | "count"> {}

/** Without what virtual services bring. */
const placedOthers = query(
  "virtual hosts in their places",
  ({ others, placesOfOthers, trimmed, count }: OthersPlaced, memo: Memo): readonly (VirtualHostPiece | undefined)[] => {
    const pieces = Array.from({ length: count }, (): VirtualHostPiece | undefined => undefined);
    for (const [at, { piece }] of others.entries()) {
      const place = placesOfOthers[at];
      if (place !== undefined) pieces[place] = pieceAt(memo, piece, trimmed.get(place));
    }
    return pieces;
  },
);

const pieceAt = (memo: Memo, piece: VirtualHostPiece, domains: readonly string[] | undefined): VirtualHostPiece =>
  domains === undefined ? piece : trimmedHost(memo, { piece, domains });

interface Trimmed {
  readonly piece: VirtualHostPiece;
  readonly domains: readonly string[];
}

const trimmedHost = query(
  "virtual host with fewer domains",
  { domains: "value" },
  ({ piece, domains }: Trimmed): VirtualHostPiece => ({ ...piece, json: { ...piece.json, domains: [...domains] } }),
);
