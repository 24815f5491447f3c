import { clustersDocument } from "./cds.ts";
import { encodeDocument } from "./encode.ts";
import { listenersDocument } from "./lds.ts";
import type { LegacyWorld } from "./legacy-world.ts";
import { type NodeId, parseNodeId } from "./node-id.ts";
import { routesDocument } from "./rds.ts";
import { availabilityZone, hostsDocument, registrations } from "./sds.ts";

/** A question over the v1 API. */
export interface V1Request {
  readonly method: string;
  /** As sent, query included. */
  readonly path: string;
  /** Header of the request; undefined where there is none. */
  readonly accept?: string;
}

/** What is answered, before anybody stores or replaces it. */
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

/** Calls of the registry that fail, and the reason; for tests of what is answered then. */
export interface RegistryFaults {
  readonly services?: string;
  readonly instances?: string;
  readonly proxyInstances?: string;
}

/**
 * Answers a question of a v1 Envoy in the words of release 0.8: bodies, status codes, texts of errors.
 * It depends on nothing but the world; caches and statistics are around it. Never throws, whatever the path says.
 *
 * @see v1-api 1
 */
export function answer(world: LegacyWorld, request: V1Request, faults: RegistryFaults = {}): V1Answer {
  const [rawPath = "", query] = splitOnce(request.path, "?");
  if (/\/\//.test(rawPath)) {
    const location = rawPath.replaceAll(/\/{2,}/g, "/") + (query === undefined ? "" : `?${query}`);
    return { status: 301, body: "", location };
  }
  const segments = decodedSegments(rawPath);
  if (segments === undefined) return { status: 400, body: "400: Bad Request" };
  const route = routeOf(segments);
  if (route === undefined) return { status: 404, body: "404: Page Not Found" };
  if (request.method !== route.method) return { status: 405, body: "405: Method Not Allowed" };
  if (!acceptsJson(request.accept)) return { status: 406, body: "406: Not Acceptable" };
  return route.answer(world, faults);
}

/** What a path means: the method that it takes, and how it is answered. */
interface V1Route {
  readonly method: "GET" | "POST";
  answer(world: LegacyWorld, faults: RegistryFaults): V1Answer;
}

function routeOf([first, second, ...parameters]: readonly string[]): V1Route | undefined {
  if (first !== "v1") return undefined;
  const [a, b, c, ...more] = parameters;
  if (more.length > 0) return undefined;
  switch (second) {
    case "registration":
      if (b !== undefined) return undefined;
      return get((world, faults) => (a === undefined ? allServices(world, faults) : oneService(world, a, faults)));
    case "clusters":
      return b === undefined || c !== undefined ? undefined : get((world, faults) => clusters(world, b, faults));
    case "listeners":
      return b === undefined || c !== undefined ? undefined : get((world, faults) => listeners(world, b, faults));
    case "az":
      return b === undefined || c !== undefined ? undefined : get((world, faults) => zone(world, b, faults));
    case "routes":
      return a === undefined || c === undefined ? undefined : get((world, faults) => routes(world, a, c, faults));
    default:
      return undefined;
  }
}

const get = (make: V1Route["answer"]): V1Route => ({ method: "GET", answer: make });

function allServices(world: LegacyWorld, faults: RegistryFaults): V1Answer {
  if (faults.services !== undefined) return failure(503, "EDS", faults.services);
  if (faults.instances !== undefined) return failure(500, "EDS", faults.instances);
  return { status: 200, body: encodeDocument(registrations(world)), contentType: "application/json" };
}

function oneService(world: LegacyWorld, key: string, faults: RegistryFaults): V1Answer {
  if (faults.instances !== undefined) return failure(503, "EDS", faults.instances);
  const document = hostsDocument(world, key);
  return found("sds", document, document.hosts.length);
}

function clusters(world: LegacyWorld, nodeId: string, faults: RegistryFaults): V1Answer {
  return forNode(nodeId, "CDS", (node) => {
    const fault = nodeFault(node, faults);
    if (fault !== undefined) return failure(503, "CDS", fault);
    const document = clustersDocument(world, node);
    return found("cds", document, document.clusters.length);
  });
}

function listeners(world: LegacyWorld, nodeId: string, faults: RegistryFaults): V1Answer {
  return forNode(nodeId, "LDS", (node) => {
    const fault = node.type === "router" ? undefined : nodeFault(node, faults);
    if (fault !== undefined) return failure(503, "LDS", fault);
    const document = listenersDocument(world, node);
    return found("lds", document, document.listeners?.length ?? 0);
  });
}

function routes(world: LegacyWorld, name: string, nodeId: string, faults: RegistryFaults): V1Answer {
  return forNode(nodeId, "RDS", (node) => {
    const fault = node.type === "sidecar" ? nodeFault(node, faults) : undefined;
    if (fault !== undefined) return failure(503, "RDS", fault);
    const document = routesDocument(world, node, name);
    if ("error" in document) return failure(503, "RDS", document.error);
    return found("rds", document, document.virtual_hosts.length);
  });
}

function zone(world: LegacyWorld, nodeId: string, faults: RegistryFaults): V1Answer {
  return forNode(nodeId, "AvailabilityZone", (node) => {
    if (faults.proxyInstances !== undefined) return failure(404, "AvailabilityZone", faults.proxyInstances);
    const name = availabilityZone(world, node);
    if (name === undefined) return failure(404, "AvailabilityZone", "couldn't find the given cluster node");
    return { status: 200, body: name };
  });
}

/** The registry asks for the node's own instances first, then for all services. */
function nodeFault(node: NodeId, faults: RegistryFaults): string | undefined {
  if (node.type === "ingress") return undefined;
  return faults.proxyInstances ?? faults.services;
}

function forNode(nodeId: string, prefix: string, make: (node: NodeId) => V1Answer): V1Answer {
  const node = parseNodeId(nodeId);
  // Two blanks, as in the release.
  return "error" in node ? failure(404, prefix, `unexpected service-node:  ${node.error}`) : make(node);
}

function found(kind: V1Document["kind"], document: object, resources: number): V1Answer {
  return { status: 200, body: encodeDocument(document), document: { kind, resources } };
}

const failure = (status: number, prefix: string, reason: string): V1Answer => ({ status, body: `${prefix} ${reason}` });

/** Segments of a path without the slashes around them; undefined where an escape is broken. */
function decodedSegments(path: string): readonly string[] | undefined {
  const trimmed = path.replace(/^\//, "").replace(/\/$/, "");
  const decoded = trimmed.split("/").map(decodedSegment);
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

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
