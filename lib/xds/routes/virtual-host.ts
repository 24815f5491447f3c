import type { RouteJson, VirtualHostJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import { byCodePoint, type ConfigKey } from "../../base/diagnostic.ts";
import { ChunkedList } from "../../config/chunked-list.ts";
import { internLongList, listKeeper } from "../../incremental/keep-identity.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { sameElements } from "../../incremental/same-elements.ts";
import { withLazyField } from "../lazy-field.ts";
import type { Resource } from "../resource.ts";

/** A virtual host and the objects that it was made from. */
export interface VirtualHostPiece {
  readonly name: string;
  readonly json: VirtualHostJson;
  readonly from: readonly ConfigKey[];
}

/** Puts a virtual host together; empty lists are not written. */
export function virtualHost(
  name: string,
  domains: readonly string[],
  routes: readonly RouteJson[],
  attemptCount: boolean,
): VirtualHostJson {
  const host: VirtualHostJson = { name, domains: [...domains] };
  if (routes.length > 0) host.routes = [...routes];
  if (attemptCount) host.includeRequestAttemptCount = true;
  return host;
}

export const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  byCodePoint(a.name, b.name);

interface Table {
  readonly name: string;
  readonly pieces: readonly VirtualHostPiece[];
}

interface TableInputs {
  readonly name: string;
  readonly hosts: readonly VirtualHostJson[] | ChunkedList<VirtualHostJson>;
  /** Pieces with the objects behind these, in their order. */
  readonly owners: readonly VirtualHostPiece[];
}

/** A table of so few pieces is found by these. */
export const fewPieces = 8;

/**
 * A table with hosts. Ports do not count when Envoy compares a request's host with domains.
 * @see docs/how-istio-does-it/routes.md#tables
 */
export const routeTable = query("route table", ({ name, hosts, owners }: TableInputs, memo: Memo) =>
  tableOf(name, hosts, allOf(memo, { owners })),
);

const smallTable = query("small route table", { pieces: "elements" }, ({ name, pieces }: Table) =>
  tableOf(name, pieces.map(jsonOf), objectsOf(pieces)),
);

export const jsonOf = ({ json }: VirtualHostPiece): VirtualHostJson => json;

/** The virtual hosts of a table, the same list as long as they are the same. */
const hostsOf = mappedList("virtual hosts of a route table", jsonOf);

/** A table with all its virtual hosts. */
export const inlineTable = (name: string, virtualHosts: VirtualHostJson[]): RouteConfigurationJson =>
  tableAround(name, virtualHosts.length === 0 ? {} : { virtualHosts });

const tableAround = (name: string, hosts: Pick<RouteConfigurationJson, "virtualHosts">): RouteConfigurationJson => ({
  name,
  ...hosts,
  validateClusters: false,
  ignorePortInHostMatching: true,
  maxDirectResponseBodySizeBytes: 1_048_576,
});

const tableOf = (
  name: string,
  hosts: readonly VirtualHostJson[] | ChunkedList<VirtualHostJson>,
  from: readonly ConfigKey[],
): Resource<RouteConfigurationJson> => {
  // Its text is cut where the list stands, which is therefore there, though empty.
  if (hosts instanceof ChunkedList)
    return { name, json: withLazyField(tableAround(name, { virtualHosts: [] }), "virtualHosts", hosts), from };
  // Nobody writes into it.
  return { name, json: inlineTable(name, hosts as VirtualHostJson[]), from };
};

/**
 * The table as it was, if its virtual hosts are; so what is made from it later need not be made again either.
 *
 * @param key of the view that it is made for
 */
export function keptTable(key: () => string, { name, pieces }: Table, memo: Memo): Resource<RouteConfigurationJson> {
  if (pieces.length <= fewPieces) return smallTable(memo, { name, pieces });
  // An object that was written anew is the same one still: what stands of a table's objects does not change with its routes.
  const slot = `${key()}|${name}`;
  return routeTable(memo, {
    name,
    hosts: hostsOf(memo, slot, pieces, {}),
    owners: keptOwners(memo, slot, pieces),
  });
}

const allOf = query(
  "objects of a route table",
  ({ owners }: Pick<TableInputs, "owners">, memo: Memo): readonly ConfigKey[] =>
    internLongList(memo, "objects of route tables", objectsOf(owners)),
);

/** Some more than once. */
const objectsOf = (owners: readonly VirtualHostPiece[]): readonly ConfigKey[] => owners.flatMap(({ from }) => from);

export const areOfSameObjects = (last: VirtualHostPiece, piece: VirtualHostPiece): boolean =>
  last === piece || sameElements(last.from, piece.from, isSameKey);

const isSameKey = (last: ConfigKey, key: ConfigKey): boolean =>
  last === key ||
  (last.name === key.name && last.namespace === key.namespace && last.kind === key.kind && last.group === key.group);

/** The answer for a name that means nothing (any more): a listener that still asks for it can finish warming or draining. */
export function emptyTable(name: string): Resource<RouteConfigurationJson> {
  return { name, json: { name, validateClusters: false }, from: [] };
}

const keptOwners = listKeeper("owners of a route table", areOfSameObjects);
