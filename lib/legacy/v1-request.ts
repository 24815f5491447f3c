import { type NodeId, parseNodeId } from "./node-id.ts";

/** A request of the v1 API. */
export interface V1Request {
  readonly method: string;
  /** As sent, query included. */
  readonly path: string;
  /** Header of the request; undefined where there is none. */
  readonly accept?: string;
}

/** The response, before caching. */
export interface V1Answer {
  readonly status: number;
  readonly body: string;
  /** undefined: not said, which is what the release does for the documents of Envoy. */
  readonly contentType?: string;
  /** For redirections. */
  readonly location?: string;
  /** Kind of document; undefined for everything that is never stored. */
  readonly document?: V1Document;
}

export interface V1Document {
  readonly kind: "sds" | "cds" | "rds" | "lds";
  /** Hosts, clusters, virtual hosts or listeners; an answer without any is not stored. */
  readonly resources: number;
}

/** The parsed path of a request. */
export type ParsedV1Request =
  | { readonly kind: "registrations" }
  | { readonly kind: "hosts"; readonly key: string }
  | { readonly kind: "clusters"; readonly node: NodeId }
  | { readonly kind: "routes"; readonly node: NodeId; readonly table: string }
  | { readonly kind: "listeners"; readonly node: NodeId }
  | { readonly kind: "zone"; readonly node: NodeId }
  | { readonly kind: "statistics" }
  | { readonly kind: "reset-statistics" };

/** The parsed request, or the error response. */
export type ParseResult =
  | { readonly question: ParsedV1Request; readonly answer?: undefined }
  | { readonly question?: undefined; readonly answer: V1Answer };

/**
 * Reads a request in the words of release 0.8: paths, methods, node ids, and what is said to those that are none of them.
 * Never throws, whatever the path says.
 *
 * @see docs/how-istio-does-it/legacy-v1.md#questions-and-answers
 */
export function parseV1Request(request: V1Request): ParseResult {
  const at = request.path.indexOf("?");
  const [path, query] = at === -1 ? [request.path, ""] : [request.path.slice(0, at), request.path.slice(at)];
  if (path.includes("//")) {
    return { answer: { status: 301, body: "", location: path.replaceAll(/\/{2,}/g, "/") + query } };
  }
  const segments = decodedSegments(path);
  if (segments === undefined) return { answer: { status: 400, body: "400: Bad Request" } };
  const asked = routeOf(segments);
  if (asked === undefined) return { answer: { status: 404, body: "404: Page Not Found" } };
  if (request.method !== asked.method) return { answer: { status: 405, body: "405: Method Not Allowed" } };
  if (!acceptsJson(request.accept)) return { answer: { status: 406, body: "406: Not Acceptable" } };
  return asked.read();
}

/** The prefix of error texts, by what is asked for. */
const errorPrefixes = {
  registrations: "EDS",
  hosts: "EDS",
  clusters: "CDS",
  routes: "RDS",
  listeners: "LDS",
  zone: "AvailabilityZone",
} as const;

/** An error in the form of the release. */
export function failure(status: number, kind: keyof typeof errorPrefixes, reason: string): V1Answer {
  return { status, body: `${errorPrefixes[kind]} ${reason}` };
}

/** What is wrong with a name of a route table, or undefined: it is a number, or that of the joined table. */
export function tableNameError(table: string): string | undefined {
  return table === httpProxyTable || /^[-+]?\d+$/.test(table)
    ? undefined
    : `strconv.Atoi: parsing ${JSON.stringify(table)}: invalid syntax`;
}

/** Name of the table that joins all ports, for an explicit HTTP proxy. */
export const httpProxyTable = "http_proxy";

interface Route {
  readonly method: "GET" | "POST";
  read(): ParseResult;
}

function routeOf(segments: readonly string[]): Route | undefined {
  const [first, second, ...parameters] = segments;
  if (second === undefined) {
    if (first === "cache_stats") return asking({ kind: "statistics" });
    if (first === "cache_stats_delete") return { ...asking({ kind: "reset-statistics" }), method: "POST" };
    return undefined;
  }
  if (first !== "v1") return undefined;
  const [a, b, c, ...more] = parameters;
  if (more.length > 0) return undefined;
  switch (second) {
    case "registration":
      if (b !== undefined) return undefined;
      return asking(a === undefined ? { kind: "registrations" } : { kind: "hosts", key: a });
    case "clusters":
    case "listeners":
    case "az": {
      if (b === undefined || c !== undefined) return undefined;
      const kind = second === "az" ? "zone" : second;
      return ofNode(kind, b, (node) => ({ kind, node }));
    }
    case "routes":
      if (a === undefined || c === undefined) return undefined;
      return ofNode("routes", c, (node) => ({ kind: "routes", node, table: a }));
    default:
      return undefined;
  }
}

const asking = (question: ParsedV1Request): Route => ({ method: "GET", read: () => ({ question }) });

function ofNode(kind: keyof typeof errorPrefixes, nodeId: string, make: (node: NodeId) => ParsedV1Request): Route {
  const read = (): ParseResult => {
    const node = parseNodeId(nodeId);
    // Two blanks, as in the release.
    if ("error" in node) return { answer: failure(404, kind, `unexpected service-node:  ${node.error}`) };
    return { question: make(node) };
  };
  return { method: "GET", read };
}

/** Segments of a path without the slashes around them; undefined where an escape is broken. */
function decodedSegments(path: string): readonly string[] | undefined {
  const decoded = path.replace(/^\//, "").replace(/\/$/, "").split("/").map(decodedSegment);
  return decoded.every((segment) => segment !== undefined) ? decoded : undefined;
}

function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    // The only error that decodeURIComponent has is a broken escape, and that is the answer.
    return undefined;
  }
}

/** No header, or one that names JSON or anything at all. */
function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === "") return true;
  return accept.split(",").some((range) => {
    const type = (range.split(";")[0] ?? "").trim();
    return type === "*/*" || type === "application/*" || type === "application/json";
  });
}
