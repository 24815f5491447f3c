import { isRecord, type JsonRecord, localityText, type NodeClaims, textOf } from "../../base/classifier.ts";
import type { Limits } from "../../limits/limits.ts";
import { distinctNames, excessOfNode, isName } from "../excess.ts";
import { buildOfList, type ExtensionLists } from "./extension-lists.ts";
import { parseRequest } from "./json-request.ts";

/** What a poll asks, and who asks. Nothing in it is authenticated. */
export interface PollRequest {
  /** Version that the node has accepted; undefined on its first poll. */
  readonly version: string | undefined;
  /** Names it asks for, each once; empty for the types that come whole. */
  readonly names: readonly string[];
  /** undefined where the body names none: the path decides then. */
  readonly typeUrl: string | undefined;
  readonly node: NodeClaims;
  /** About what it takes to remember the request. */
  readonly bytes: number;
}

export type ReadPoll = { readonly request: PollRequest } | { readonly problem: string };

/** Reads a DiscoveryRequest in proto JSON, with proto or camelCase names. */
export function readPoll(body: string, limits: Limits, lists?: ExtensionLists): ReadPoll {
  const parsed = parseRequest(body, limits.depth, lists);
  if ("problem" in parsed) return parsed;
  const { json, bytes } = parsed;
  const version = json.version_info ?? json.versionInfo ?? "";
  const names = json.resource_names ?? json.resourceNames ?? [];
  const typeUrl = json.type_url ?? json.typeUrl ?? "";
  if (!isName(version, limits)) return { problem: `version_info is not a text of at most ${limits.nameBytes} bytes` };
  if (!isName(typeUrl, limits)) return { problem: `type_url is not a text of at most ${limits.nameBytes} bytes` };
  const distinct = distinctNames("resource_names", names, limits);
  if ("problem" in distinct) return distinct;
  const node = readNode(json.node, bytes, limits);
  if ("problem" in node) return node;
  const { claims } = node;
  return {
    request: {
      version: version || undefined,
      names: distinct.names,
      typeUrl: typeUrl || undefined,
      node: claims,
      bytes,
    },
  };
}

export type ReadNode = { readonly claims: NodeClaims } | { readonly problem: string };

/**
 * The node of a discovery request in proto JSON.
 *
 * @param bytes length of the text that it is a part of
 */
export function readNode(json: unknown, bytes: number, limits: Limits): ReadNode {
  if (!isRecord(json) || typeof json.id !== "string" || json.id === "") return { problem: "node has no id" };
  const build = buildOfList(json.extensions);
  const claims: NodeClaims = {
    id: json.id,
    cluster: typeof json.cluster === "string" ? json.cluster : "",
    metadata: isRecord(json.metadata) ? json.metadata : {},
    locality: isRecord(json.locality) ? localityOf(json.locality) : "",
    ...(build === undefined ? {} : { build }),
  };
  const problem = excessOfNode(claims, bytes, limits);
  return problem === undefined ? { claims } : { problem };
}

const localityOf = (locality: JsonRecord): string =>
  localityText(textOf(locality.region), textOf(locality.zone), textOf(locality.sub_zone ?? locality.subZone));
