import { CacheEntries } from "../incremental/cache-entries.ts";
import type { Memo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import type { LegacyClass } from "../legacy/compiled-legacy.ts";
import { type ComposedDocument, composeAlone, composeDocument, shortDocument } from "../legacy/compose-document.ts";
import { encodeDocument } from "../legacy/go-json.ts";
import type { NodeId } from "../legacy/node-id.ts";
import { holes } from "../legacy/template.ts";
import type { AddressClass } from "./address-classes.ts";
import { clusterLists } from "./clusters/cds.ts";
import { clusterText, forms, listenerText, sharedClusters, sharedListeners } from "./elements.ts";
import type { LegacyMesh } from "./legacy-world.ts";
import { listenersDocument } from "./listeners/lds.ts";
import { routeDocuments } from "./routes/route-documents.ts";
import { runsHere } from "./runs-here.ts";
import { sidecarParts, sortedListeners } from "./sidecar.ts";

/** All that the nodes of one class are answered. */
export interface ClassDocuments {
  /** One of them, with holes for what is its own. */
  readonly node: NodeId;
  readonly answers: LegacyClass;
  readonly clusters: ComposedDocument;
  readonly listeners: ComposedDocument;
  /** One list for all classes that route by the same tables. */
  readonly tables: readonly ComposedDocument[];
}

interface Inputs {
  readonly mesh: LegacyMesh;
  readonly addressClass: AddressClass;
  readonly type: NodeId["type"];
  readonly domain: string;
  /** Whether the node says its address. */
  readonly isAddressed: boolean;
}

/** Kept as long as neither the mesh nor what runs at the place changes: endpoints elsewhere are nothing to them. */
export const classDocuments = query(
  "documents of a class of the v1 API",
  ({ mesh, addressClass, type, domain, isAddressed }: Inputs, memo: Memo): ClassDocuments => {
    const node = nodeOf(type, domain, addressClass, isAddressed);
    const clusters = oneOfDocuments(memo, clustersOf(mesh, node, addressClass, memo));
    const listeners = oneOfDocuments(memo, listenersOf(mesh, node, addressClass, memo));
    const { routes, tables } = routeDocuments(memo, mesh, node, runsHere(addressClass.instances, memo));
    return {
      node,
      answers: { clusters: clusters.ref, listeners: listeners.ref, ...routes },
      clusters,
      listeners,
      tables,
    };
  },
);

const nameOf = ({ ref }: ComposedDocument): string => ref.composition ?? ref.text;

const inUse = new CacheEntries<Map<string, ComposedDocument>>("documents of the v1 API");

/** The document that another class has already, if it says the same: most classes have the same. */
function oneOfDocuments(memo: Memo, document: ComposedDocument): ComposedDocument {
  const name = nameOf(document);
  const documents = inUse.last(memo, "") ?? new Map<string, ComposedDocument>();
  const known = documents.get(name);
  if (known !== undefined) return known;
  inUse.keep(memo, "", documents.set(name, document));
  return document;
}

/** Leaves only these documents to be found by the classes of the next world. */
export const keepDocuments = (memo: Memo, documents: readonly ComposedDocument[]): void =>
  inUse.keep(memo, "", new Map(documents.map((document) => [nameOf(document), document])));

function nodeOf(type: NodeId["type"], domain: string, { ip }: AddressClass, isAddressed: boolean): NodeId {
  const node = holes(type, domain);
  if (!isAddressed) return { ...node, ip: "", ipBytes: "" };
  return ip === undefined ? node : { ...node, ip };
}

function clustersOf(mesh: LegacyMesh, node: NodeId, { instances }: AddressClass, memo: Memo): ComposedDocument {
  const { own, shared: list, servers } = clusterLists(mesh, node, instances, memo);
  const text = clusterText(mesh);
  const shared = sharedClusters(memo, { mesh, list });
  return composeDocument(forms.clusters, [...own.map(text), [0, shared.elements.length], ...servers.map(text)], shared);
}

function listenersOf(mesh: LegacyMesh, node: NodeId, addressClass: AddressClass, memo: Memo): ComposedDocument {
  if (node.type !== "sidecar") {
    const { listeners } = listenersDocument(mesh, node, addressClass.instances, memo);
    return listeners === null
      ? shortDocument(encodeDocument({ listeners }), 0)
      : composeAlone(forms.listeners, listeners.map(listenerText));
  }
  const parts = sidecarParts(mesh, node, addressClass.instances, memo);
  const shared = sharedListeners(memo, { list: parts.outbound.listeners });
  const items = sortedListeners(parts, filledAt(addressClass));
  return composeDocument(
    forms.listeners,
    items.map((item) => ("address" in item ? listenerText(item) : item)),
    shared,
  );
}

const { ip: ipHole } = holes("sidecar", "");

/** Sorts by address with the hole filled; the listeners of nodes that nobody knows stand last. */
function filledAt({ representative, ip }: AddressClass): (address: string) => string {
  if (ip !== undefined) return (address) => address;
  return (address) => address.replace(ipHole, representative ?? "\uFFFF");
}
