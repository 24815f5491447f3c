import { byCodePoint } from "../../base/diagnostic.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { LegacyClass } from "../../legacy/compiled-legacy.ts";
import {
  type ComposedDocument,
  type ComposedItem,
  composeAlone,
  composeDocument,
  type SharedElements,
  shareElements,
} from "../../legacy/compose-document.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import { holes } from "../../legacy/template.ts";
import { forms, hostText } from "../elements.ts";
import type { LegacyMesh } from "../legacy-world.ts";
import { nothingRuns, type RunsHere } from "../runs-here.ts";
import { parentDomain } from "../service-tables.ts";
import type { BuiltHost } from "./outbound-routes.ts";
import {
  type JoinedTables,
  joinedTables,
  type NamedTables,
  type NodeTables,
  namedAs,
  namedTables,
  namesOf,
  nodeTables,
  routerTables,
} from "./rds.ts";

/** Answers about routes, and the documents that they name. */
export interface EncodedTables {
  readonly routes: Pick<LegacyClass, "routes" | "routesError">;
  readonly tables: readonly ComposedDocument[];
}

/** Of every node. Those of sidecars are told apart from tables of their namespace's parent domain, which all namespaces share. */
export function routeDocuments(memo: Memo, mesh: LegacyMesh, node: NodeId, here: RunsHere): EncodedTables {
  if (node.type === "router") {
    const tables = routerTables(mesh, node);
    if ("error" in tables) return { routes: { routes: {}, routesError: tables.error }, tables: [] };
    return byName(tables, composedAlone);
  }
  const tables = nodeTables(memo, mesh, node, here);
  if (node.type === "ingress") return encodedAlone(memo, tables);
  const parent = parentTables(memo, { mesh, domain: parentDomain(node.domain) });
  return encodedTables(memo, { ...tables, parent });
}

/** Tables that those of many namespaces have most of. */
interface ParentTables extends NodeTables {
  readonly joined: JoinedTables;
  readonly named: NamedTables;
  readonly shared: ReadonlyMap<string, SharedElements>;
}

/** What a node has in a domain in which no service has a name of its own. */
const parentTables = query(
  "shared tables of the v1 API",
  ({ mesh, domain }: { readonly mesh: LegacyMesh; readonly domain: string }, memo: Memo): ParentTables => {
    const tables = nodeTables(memo, mesh, holes("sidecar", domain), nothingRuns);
    const joined = joinedTables(tables, memo);
    const named = namesOf(tables, joined);
    const shared = new Map([...named].map(([name, hosts]) => [name, shareElements(hosts.map(hostText))]));
    return { ...tables, joined, named, shared };
  },
);

const encodedAlone = query(
  "encoded tables of an ingress proxy of the v1 API",
  (tables: NodeTables, memo: Memo): EncodedTables => byName(namedTables(tables, memo), composedAlone),
);

/** By the tables: all nodes that route by them share the documents. */
const encodedTables = query(
  "encoded tables of the v1 API",
  ({ plain, v2Named, parent }: NodeTables & { readonly parent: ParentTables }, memo: Memo): EncodedTables =>
    byName(namedAs({ plain, v2Named }, parent, memo), (hosts, name) => {
      const shared = parent.shared.get(name);
      const before = parent.named.get(name);
      if (shared === undefined || before === undefined) return composedAlone(hosts);
      return composeDocument(forms.routes, itemsOf(hosts, before, shared), shared);
    }),
);

const composedAlone = (hosts: readonly BuiltHost[]): ComposedDocument =>
  composeAlone(forms.routes, hosts.map(hostText));

/** A table in ranges of another, as far as it has the same virtual hosts, which most often stand in the same places. */
function itemsOf(
  hosts: readonly BuiltHost[],
  before: readonly BuiltHost[],
  { places }: SharedElements,
): readonly ComposedItem[] {
  const items: ComposedItem[] = [];
  let from = 0;
  let next = 0;
  for (const host of hosts) {
    if (host !== before[next]) {
      items.push([from, next]);
      const text = hostText(host);
      const place = places.get(text);
      if (place === undefined) items.push(text);
      // What replaces a host stands in its place.
      from = place ?? next + 1;
      next = from;
      if (place === undefined) continue;
    }
    next += 1;
  }
  return [...items, [from, next]];
}

function byName(
  tables: NamedTables,
  compose: (hosts: readonly BuiltHost[], name: string) => ComposedDocument,
): EncodedTables {
  const composed = [...tables]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([name, hosts]) => [name, compose(hosts, name)] as const);
  return {
    routes: { routes: Object.fromEntries(composed.map(([name, { ref }]) => [name, ref])) },
    tables: composed.map(([, table]) => table),
  };
}
