import type { VirtualHostJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import { ChunkedList } from "../../config/chunked-list.ts";
import { CacheEntries } from "../../incremental/cache-entries.ts";
import { changedIndexes, type ReadonlyList, withValues } from "../../incremental/list-delta.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { areOfSameObjects, jsonOf, type VirtualHostPiece } from "./virtual-host.ts";

/** Index in the table (sorted by name) of each candidate virtual host; undefined for one that gets no domains. */
type HostIndexes = readonly (number | undefined)[];

/** The order of a table's virtual hosts. */
export interface HostOrder {
  /** Number of virtual hosts in the table. */
  readonly count: number;
  /** Of the hosts of VirtualServices, one VirtualService after the other. */
  readonly indexes: HostIndexes;
  readonly indexesOfDefaults: HostIndexes;
  /** By index, the domains of hosts that do not get all domains that they claim. */
  readonly trimmed: ReadonlyMap<number, readonly string[]>;
}

interface WithPiece {
  readonly piece: VirtualHostPiece;
}

/** Virtual hosts of a table, after domain conflicts are resolved. */
export interface ResolvedHosts {
  /** One element per VirtualService. */
  readonly fromVirtualServices: readonly { readonly hosts: readonly WithPiece[] }[];
  readonly defaults: readonly WithPiece[];
  readonly order: HostOrder;
  /** Cache slot: one per table and class. */
  readonly slot: string;
}

/** One value per virtual host of a table, in order; the catch-all last, if there is one. */
type TableList<L> = (memo: Memo, hosts: ResolvedHosts, last?: VirtualHostPiece) => L;

interface KeptList<L> extends ResolvedHosts {
  readonly last: VirtualHostPiece | undefined;
  readonly list: L;
}

/** How a list of one value per virtual host is made and updated. */
interface ListKind<T, L extends ReadonlyList<T>> {
  readonly of: (piece: VirtualHostPiece) => T;
  readonly listOf: (all: readonly T[]) => L;
  readonly withReplaced: (list: L, indexes: readonly number[], values: readonly T[]) => L;
  /** Whether the earlier value is kept. */
  readonly alike: (before: T, now: T) => boolean;
}

/**
 * While the order stays the same, only the hosts of changed VirtualServices are replaced. Most changes are to the routes of one
 * VirtualService, which is in every table of thousands of hosts.
 */
function tableList<T, L extends ReadonlyList<T>>(kind: string, making: ListKind<T, L>): TableList<L> {
  const made = new CacheEntries<KeptList<L>>(kind);
  return (memo, hosts, last) => {
    const before = made.last(memo, hosts.slot);
    const isSame = before?.order === hosts.order && before.defaults === hosts.defaults && before.last === last;
    const changed = isSame ? changedIndexes(before.fromVirtualServices, hosts.fromVirtualServices) : undefined;
    const list =
      before === undefined || changed === undefined
        ? making.listOf(orderAll(memo, hosts, making.of, last))
        : replaceChanged(memo, hosts, changed, before.list, making);
    made.keep(memo, hosts.slot, { ...hosts, last, list });
    return list;
  };
}

const asArrays = { listOf: <T>(all: readonly T[]) => all, withReplaced: withValues };

export const orderedPieces = tableList<VirtualHostPiece, readonly VirtualHostPiece[]>("placed virtual hosts", {
  ...asArrays,
  of: (piece) => piece,
  alike: Object.is,
});

/** The JSON of the table's virtual hosts. */
export const orderedJson = tableList<VirtualHostJson, ChunkedList<VirtualHostJson>>("placed JSON of virtual hosts", {
  of: jsonOf,
  listOf: ChunkedList.of,
  withReplaced: (list, indexes, values) => list.with(indexes, values),
  alike: Object.is,
});

/** Pieces by their source objects: the list keeps its identity while these stay the same, whatever their routes are. */
export const orderedOwners = tableList<VirtualHostPiece, readonly VirtualHostPiece[]>(
  "placed owners of virtual hosts",
  {
    ...asArrays,
    of: (piece) => piece,
    alike: areOfSameObjects,
  },
);

function orderAll<T>(
  memo: Memo,
  hosts: ResolvedHosts,
  of: (piece: VirtualHostPiece) => T,
  last: VirtualHostPiece | undefined,
): readonly T[] {
  const { defaults, order } = hosts;
  const { trimmed, indexesOfDefaults, count } = order;
  // The default hosts come first: most changes leave them as they are.
  const list = orderedDefaults(memo, { defaults, indexesOfDefaults, trimmed, count }).map(
    (piece) => piece && of(piece),
  );
  putFromVirtualServices(memo, hosts, [...hosts.fromVirtualServices.keys()], (index, piece) => {
    list[index] = of(piece);
  });
  if (last !== undefined) list.push(of(last));
  // Every index is filled now.
  return list as readonly T[];
}

function replaceChanged<T, L extends ReadonlyList<T>>(
  memo: Memo,
  hosts: ResolvedHosts,
  changed: readonly number[],
  list: L,
  { of, withReplaced, alike }: ListKind<T, L>,
): L {
  const indexes: number[] = [];
  const values: T[] = [];
  putFromVirtualServices(memo, hosts, changed, (index, piece) => {
    const value = of(piece);
    if (alike(list.at(index) as T, value)) return;
    indexes.push(index);
    values.push(value);
  });
  return withReplaced(list, indexes, values);
}

/** Calls `put` for each host of some VirtualServices. @param which indexes of VirtualServices, ascending */
function putFromVirtualServices(
  memo: Memo,
  { fromVirtualServices, order: { indexes, trimmed } }: ResolvedHosts,
  which: readonly number[],
  put: (index: number, piece: VirtualHostPiece) => void,
): void {
  let [of, at] = [0, 0];
  // Plain loops: every table goes over all virtual services, and an iterator makes an object for each.
  for (const next of which) {
    for (; of < next; of++) at += fromVirtualServices[of]?.hosts.length ?? 0;
    const hosts = fromVirtualServices[next]?.hosts ?? [];
    for (let own = 0; own < hosts.length; own++) {
      const [index, piece] = [indexes[at + own], hosts[own]?.piece];
      if (index !== undefined && piece !== undefined) put(index, pieceAt(memo, piece, trimmed.get(index)));
    }
  }
}

interface DefaultsInputs
  extends Pick<ResolvedHosts, "defaults">,
    Pick<HostOrder, "indexesOfDefaults" | "trimmed" | "count"> {}

/** Hosts of VirtualServices are left undefined. */
const orderedDefaults = query(
  "virtual hosts in their places",
  (
    { defaults, indexesOfDefaults, trimmed, count }: DefaultsInputs,
    memo: Memo,
  ): readonly (VirtualHostPiece | undefined)[] => {
    const pieces = Array.from({ length: count }, (): VirtualHostPiece | undefined => undefined);
    for (const [at, { piece }] of defaults.entries()) {
      const index = indexesOfDefaults[at];
      if (index !== undefined) pieces[index] = pieceAt(memo, piece, trimmed.get(index));
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
