import { byCodePoint } from "../config/diagnostic.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import type { LegacyClass } from "../snapshot/legacy/compiled-legacy.ts";
import {
  type ComposedDocument,
  composeAlone,
  composeDocument,
  itemsOf,
  type SharedElements,
  shareElements,
} from "../snapshot/legacy/compose-document.ts";
import type { NodeId } from "../snapshot/legacy/node-id.ts";
import { holes } from "../snapshot/legacy/template.ts";
import { forms, hostText } from "./elements.ts";
import type { LegacyMesh } from "./legacy-world.ts";
import type { BuiltHost, RouteTables } from "./outbound-routes.ts";
import { type NamedTables, namedTables, nodeTables, routerTables } from "./rds.ts";
import { nothingRuns, type RunsHere } from "./runs-here.ts";

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
    return byName(tables, (hosts) => composeAlone(forms.routes, hosts.map(hostText)));
  }
  const tables = nodeTables(memo, mesh, node, here);
  const domain = node.domain.slice(node.domain.indexOf(".") + 1);
  const shared = node.type === "sidecar" ? sharedTables(memo, { mesh, domain }) : nothingShared;
  return encodedTables(memo, { ...tables, shared });
}

type SharedTables = ReadonlyMap<string, SharedElements>;

const nothingShared: SharedTables = new Map();

/** What a node has in a domain in which no service has a name of its own. */
const sharedTables = query(
  "shared tables of the v1 API",
  ({ mesh, domain }: { readonly mesh: LegacyMesh; readonly domain: string }, memo: Memo): SharedTables => {
    const tables = namedTables(nodeTables(memo, mesh, holes("sidecar", domain), nothingRuns), memo);
    return new Map([...tables].map(([name, hosts]) => [name, shareElements(hosts.map(hostText))]));
  },
);

interface Tables {
  readonly plain: RouteTables;
  readonly v2Named: RouteTables;
  readonly shared: SharedTables;
}

/** By the tables: all nodes that route by them share the documents. */
const encodedTables = query(
  "encoded tables of the v1 API",
  ({ plain, v2Named, shared }: Tables, memo: Memo): EncodedTables =>
    byName(namedTables({ plain, v2Named }, memo), (hosts, name) => {
      const ofTable = shared.get(name);
      const texts = hosts.map(hostText);
      return ofTable === undefined
        ? composeAlone(forms.routes, texts)
        : composeDocument(forms.routes, itemsOf(texts, ofTable), ofTable);
    }),
);

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
