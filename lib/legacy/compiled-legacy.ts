import { own } from "../base/classifier.ts";
import { encodeDocument } from "./go-json.ts";
import type { NodeId } from "./node-id.ts";
import { parseServiceKey } from "./service-key.ts";
import { failure, type ParsedV1Request, tableNameError, type V1Answer } from "./v1-request.ts";

/** Every answer of the v1 API, made ahead: plain data that goes into a snapshot. */
export interface CompiledLegacy {
  readonly index: LegacyIndex;
  /**
   * All that the index names and what that names in turn: templates, compositions and chunks. By the SHA-256 of their text in UTF-8,
   * each once: the same names as those of a snapshot's blobs.
   */
  readonly texts: Readonly<Record<string, string>>;
}

/**
 * Which answer is whose. Nodes at which the same runs, in one DNS domain, are a class; what is of one node only is a hole in
 * the class's texts (see `template.ts`).
 */
export interface LegacyIndex {
  /** By `legacyClassKey`. */
  readonly classes: Readonly<Record<string, LegacyClass>>;
  /** What runs at an address. */
  readonly sites: Readonly<Record<string, LegacySite>>;
  /** Endpoints by host name and port name, in order. */
  readonly hosts: Readonly<Record<string, Readonly<Record<string, readonly LegacyHost[]>>>>;
  readonly registrations: DocumentRef;
}

export interface LegacyClass {
  readonly clusters: DocumentRef;
  readonly listeners: DocumentRef;
  /** By table name; every other number means a table without hosts. */
  readonly routes: Readonly<Record<string, DocumentRef>>;
  /** Why the nodes of this class have no tables at all; absent: they have. */
  readonly routesError?: string;
}

/** One answer. The name of its blob is also the entity tag, because a URL names the node and so fills the holes. */
export type DocumentRef = {
  /** Hosts, clusters, virtual hosts or listeners in it. */
  readonly resources: number;
} & (
  | {
      /** Blob of its text. */
      readonly text: string;
      readonly composition?: undefined;
    }
  | {
      /** Of a long one, blob of the `Composition` that it is put together by. Releases before format 6 wrote none. */
      readonly composition: string;
      readonly text?: undefined;
    }
);

export interface LegacySite {
  /** Part of the class keys of the nodes here. */
  readonly id: string;
  /** What `/v1/az` answers. */
  readonly zone: string;
}

export interface LegacyHost {
  readonly host: object;
  readonly labels: Readonly<Record<string, string>>;
}

/** The site of addresses at which nothing runs. */
export const emptySite = "empty";

/** A node without an address is told apart: what is made of the address is left out for it. */
export function legacyClassKey(node: Pick<NodeId, "type" | "domain" | "ip">, site: string): string {
  return [node.type, node.domain, site, node.ip === "" ? "no address" : ""].join("|");
}

/** A document, for one node. */
export interface StoredDocument {
  readonly ref: DocumentRef;
  /** Whose the holes are filled with; undefined for a document that has none. */
  readonly node: NodeId | undefined;
}

/** An answer with its entity tag; no tag where the answer is no document. */
export interface TaggedAnswer {
  /** Where the body is a stored document, it is empty here. */
  readonly answer: V1Answer;
  readonly etag?: string;
  /** The body, which is not read before it is wanted. */
  readonly stored?: StoredDocument;
}

/** Every answer that an index names. */
export function documentsOf(index: LegacyIndex): readonly DocumentRef[] {
  const ofClasses = Object.values(index.classes).flatMap(({ clusters, listeners, routes }) => [
    clusters,
    listeners,
    ...Object.values(routes),
  ]);
  return [index.registrations, ...ofClasses];
}

/** Says how a question is answered: byte for byte as from the world that the documents were made of. */
export function answerCompiled(index: LegacyIndex, question: ParsedV1Request): TaggedAnswer {
  switch (question.kind) {
    case "registrations": {
      const ref = index.registrations;
      return {
        answer: { status: 200, body: "", contentType: "application/json" },
        etag: tagOf(ref),
        stored: { ref, node: undefined },
      };
    }
    case "hosts":
      return { answer: hostsAnswer(index, question.key) };
    case "zone": {
      const site = own(index.sites, question.node.ip);
      if (site === undefined) return { answer: failure(404, "zone", "couldn't find the given cluster node") };
      return { answer: { status: 200, body: site.zone } };
    }
    case "clusters":
    case "listeners":
    case "routes":
      return nodeAnswer(index, question);
    case "statistics":
    case "reset-statistics":
      return { answer: { status: 404, body: "404: Page Not Found" } };
  }
}

function hostsAnswer(index: LegacyIndex, key: string): V1Answer {
  const { hostname, ports, labels } = parseServiceKey(key);
  const byPort = own(index.hosts, hostname) ?? {};
  const hosts = ports
    .flatMap((port) => own(byPort, port) ?? [])
    .filter((row) => labels === undefined || labels.some((set) => carries(row, set)))
    .map(({ host }) => host);
  return { status: 200, body: encodeDocument({ hosts }), document: { kind: "sds", resources: hosts.length } };
}

const carries = ({ labels }: LegacyHost, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([key, value]) => own(labels, key) === value);

type NodeQuestion = Extract<ParsedV1Request, { readonly kind: "clusters" | "listeners" | "routes" }>;

const documentKinds = { clusters: "cds", listeners: "lds", routes: "rds" } as const;

function nodeAnswer(index: LegacyIndex, question: NodeQuestion): TaggedAnswer {
  const { node, kind } = question;
  const site = own(index.sites, node.ip)?.id ?? emptySite;
  // What runs at the address of a gateway seldom matters: then there is one class for all addresses.
  const elsewhere = node.type === "sidecar" ? undefined : own(index.classes, legacyClassKey(node, emptySite));
  const found = own(index.classes, legacyClassKey(node, site)) ?? elsewhere;
  // Not an empty answer, which would take everything from the node: it keeps what it has.
  if (found === undefined)
    return { answer: failure(503, kind, `no answers were made for ${node.type}s of ${node.domain}`) };
  if (question.kind === "routes") {
    const error = found.routesError ?? tableNameError(question.table.replace(/^:/, ""));
    if (error !== undefined) return { answer: failure(503, "routes", error) };
  }
  const ref = question.kind === "routes" ? own(found.routes, question.table) : found[question.kind];
  const document = { kind: documentKinds[kind], resources: ref?.resources ?? 0 };
  if (ref === undefined) return { answer: { status: 200, body: emptyTable, document }, etag: "empty" };
  return { answer: { status: 200, body: "", document }, etag: tagOf(ref), stored: { ref, node } };
}

const tagOf = ({ text, composition }: DocumentRef): string => composition ?? text;

const emptyTable = encodeDocument({ validate_clusters: true, virtual_hosts: [] });
