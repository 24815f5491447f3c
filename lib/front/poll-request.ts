import type { NodeClaims } from "../snapshot/classifier.ts";

/** What a poll asks, whichever way it was read. */
export interface PollQuestion {
  /** Version that the node has accepted; undefined on its first poll. */
  readonly version: string | undefined;
  /** Names it asks for; empty for the types that come whole. */
  readonly names: readonly string[];
  /** undefined where the body names none: the path decides then. */
  readonly typeUrl: string | undefined;
}

/** A poll read from the ends of its body: who asks is known by name only. It is never a node's first poll. */
export interface GlimpsedPoll extends PollQuestion {
  readonly version: string;
  readonly nodeId: string;
  readonly nodeCluster: string;
}

export interface PollRequest extends PollQuestion {
  readonly node: NodeClaims;
}

const window = 1024;
const start = /^\{"version_info":"([^"\\]+)","node":\{"id":"([^"\\]*)","cluster":"([^"\\]*)"/;
const end = /\}(?:,"resource_names":\["([^"\\]*)"\])?,"type_url":"([^"\\]*)"\}$/;

/**
 * Reads a poll as Envoy writes it without parsing the 60 to 77 KB between its ends, most of them a list of extensions. For
 * a body that is JSON without repeated keys it sees what `readPoll` sees, but for names in a place where Envoy never writes
 * them: it then sees none. What is in the middle of a damaged body is not looked at.
 *
 * @returns undefined for a first poll, whose node is wanted whole, and for any other way of writing the same (order,
 * blanks, escapes, camelCase): then `readPoll` decides
 */
export function glimpsePoll(body: string): GlimpsedPoll | undefined {
  const head = start.exec(body.slice(0, window));
  if (head === null) return undefined;
  const tail = end.exec(body.slice(-window));
  if (tail === null) return undefined;
  const [, version = "", nodeId = "", nodeCluster = ""] = head;
  const [, name, typeUrl] = tail;
  return {
    version,
    nodeId,
    nodeCluster,
    names: name === undefined ? [] : [name],
    typeUrl: typeUrl || undefined,
  };
}

export type ReadPoll = { readonly request: PollRequest } | { readonly problem: string };

/** Reads a DiscoveryRequest in proto JSON, with proto or camelCase names. */
export function readPoll(body: string): ReadPoll {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { problem: "the body is not JSON" };
  }
  if (!isRecord(json)) return { problem: "the body is not a DiscoveryRequest" };
  const version = json.version_info ?? json.versionInfo ?? "";
  const names = json.resource_names ?? json.resourceNames ?? [];
  const typeUrl = json.type_url ?? json.typeUrl ?? undefined;
  if (typeof version !== "string") return { problem: "version_info is not a text" };
  if (!isTextList(names)) return { problem: "resource_names is not a list of texts" };
  if (typeUrl !== undefined && typeof typeUrl !== "string") return { problem: "type_url is not a text" };
  const node = readNode(json.node);
  if (node === undefined) return { problem: "node has no id" };
  return { request: { version: version || undefined, names, typeUrl: typeUrl || undefined, node } };
}

/** The node of a discovery request in proto JSON; undefined when it has no id. */
export function readNode(json: unknown): NodeClaims | undefined {
  if (!isRecord(json) || typeof json.id !== "string" || json.id === "") return undefined;
  return {
    id: json.id,
    cluster: typeof json.cluster === "string" ? json.cluster : "",
    metadata: isRecord(json.metadata) ? json.metadata : {},
    locality: isRecord(json.locality) ? localityText(json.locality) : "",
  };
}

/** `region/zone/subzone` without empty parts at the end. */
function localityText(locality: JsonRecord): string {
  const parts = [locality.region, locality.zone, locality.sub_zone ?? locality.subZone];
  return parts
    .map((part) => (typeof part === "string" ? part : ""))
    .join("/")
    .replace(/\/+$/, "");
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((element) => typeof element === "string");
}

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a parsed JSON value is an object. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
