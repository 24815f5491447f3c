import { createHash } from "node:crypto";
import { byCodePoint } from "../config/diagnostic.ts";
import { CacheEntries } from "../incremental/cache-entries.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import type { DocumentRef, LegacyClass } from "../snapshot/legacy/compiled-legacy.ts";
import { encodeDocument } from "../snapshot/legacy/go-json.ts";
import type { NodeId } from "../snapshot/legacy/node-id.ts";
import { holes } from "../snapshot/legacy/template.ts";
import { clustersDocument } from "./cds.ts";
import type { Listener, RouteConfig } from "./documents.ts";
import { listenersDocument } from "./lds.ts";
import type { LegacyMesh } from "./legacy-world.ts";
import type { Place } from "./places.ts";
import { type NodeTables, namedTables, nodeTables, routerTables } from "./rds.ts";
import { runsHere } from "./runs-here.ts";

/** A document as it is stored. */
export interface EncodedDocument {
  readonly ref: DocumentRef;
  readonly text: string;
}

/** All that the nodes of one class are answered. */
export interface ClassDocuments {
  /** One of them, with holes for what is its own. */
  readonly node: NodeId;
  readonly answers: LegacyClass;
  readonly clusters: EncodedDocument;
  readonly listeners: EncodedDocument;
  /** One list for all classes that route by the same tables. */
  readonly tables: readonly EncodedDocument[];
}

interface Inputs {
  readonly mesh: LegacyMesh;
  readonly place: Place;
  readonly type: NodeId["type"];
  readonly domain: string;
  /** Whether the node says its address. */
  readonly isAddressed: boolean;
}

/** Kept as long as neither the mesh nor what runs at the place changes: endpoints elsewhere are nothing to them. */
export const classDocuments = query(
  "documents of a class of the v1 API",
  ({ mesh, place, type, domain, isAddressed }: Inputs, memo: Memo): ClassDocuments => {
    const node = nodeOf(type, domain, place, isAddressed);
    const ofClusters = clustersDocument(mesh, node, place.instances, memo);
    const ofListeners = listenersDocument(mesh, node, place.instances, memo);
    const ordered =
      ofListeners.listeners === null || type !== "sidecar"
        ? ofListeners.listeners
        : inPlace(ofListeners.listeners, place);
    const clusters = oneOfDocuments(memo, encoded(ofClusters, ofClusters.clusters.length));
    const listeners = oneOfDocuments(memo, encoded({ listeners: ordered }, ordered?.length ?? 0));
    const { routes, tables } = routesOf(mesh, node, place, memo);
    return {
      node,
      answers: { clusters: clusters.ref, listeners: listeners.ref, ...routes },
      clusters,
      listeners,
      tables,
    };
  },
);

export function encoded(document: object, resources: number): EncodedDocument {
  const text = encodeDocument(document);
  return { ref: { text: createHash("sha256").update(text).digest("hex"), resources }, text };
}

const inUse = new CacheEntries<Map<string, EncodedDocument>>("documents of the v1 API");

/** The document that another class has already, if it says the same: texts are long, and most classes have the same. */
function oneOfDocuments(memo: Memo, document: EncodedDocument): EncodedDocument {
  const name = document.ref.text;
  const documents = inUse.last(memo, "") ?? new Map<string, EncodedDocument>();
  const known = documents.get(name);
  if (known !== undefined) return known;
  inUse.keep(memo, "", documents.set(name, document));
  return document;
}

/** Leaves only these documents to be found by the classes of the next world. */
export const keepDocuments = (memo: Memo, documents: readonly EncodedDocument[]): void =>
  inUse.keep(memo, "", new Map(documents.map((document) => [document.ref.text, document])));

function nodeOf(type: NodeId["type"], domain: string, { ip }: Place, isAddressed: boolean): NodeId {
  const node = holes(type, domain);
  if (!isAddressed) return { ...node, ip: "", ipBytes: "" };
  return ip === undefined ? node : { ...node, ip };
}

/** Answers about routes, and their texts. */
interface EncodedTables {
  readonly routes: Pick<LegacyClass, "routes" | "routesError">;
  readonly tables: readonly EncodedDocument[];
}

function routesOf(mesh: LegacyMesh, node: NodeId, place: Place, memo: Memo): EncodedTables {
  if (node.type !== "router") return encodedTables(memo, nodeTables(memo, mesh, node, runsHere(place.instances, memo)));
  const tables = routerTables(mesh, node);
  return "error" in tables ? { routes: { routes: {}, routesError: tables.error }, tables: [] } : encodedByName(tables);
}

/** By the tables: all nodes that route by them share the texts. */
const encodedTables = query(
  "encoded tables of the v1 API",
  (tables: NodeTables): EncodedTables => encodedByName(namedTables(tables)),
);

function encodedByName(tables: ReadonlyMap<string, RouteConfig>): EncodedTables {
  const byName = [...tables]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([name, table]) => [name, encoded(table, table.virtual_hosts.length)] as const);
  return {
    routes: { routes: Object.fromEntries(byName.map(([name, { ref }]) => [name, ref])) },
    tables: byName.map(([, table]) => table),
  };
}

const { ip: ipHole } = holes("sidecar", "");

/** Sorted by address with the hole filled; the listeners of nodes that nobody knows stand last. */
function inPlace(listeners: readonly Listener[], { representative, ip }: Place): readonly Listener[] {
  if (ip !== undefined) return listeners;
  const filled = (address: string): string => address.replace(ipHole, representative ?? "\uFFFF");
  return [...listeners].sort((a, b) => byCodePoint(filled(a.address), filled(b.address)));
}
