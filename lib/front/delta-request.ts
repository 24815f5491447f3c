import type { NodeClaims } from "../snapshot/classifier.ts";
import { isRecord, type JsonRecord, readNode } from "./poll-request.ts";

/** A DeltaDiscoveryRequest, as far as one answer needs it. */
export interface DeltaRequest {
  readonly node: NodeClaims;
  readonly typeUrl: string | undefined;
  /** Names wanted; undefined for all there are. */
  readonly names: readonly string[] | undefined;
  readonly known: Readonly<Record<string, string>>;
  /** Version of the whole type at its last answer, sent as `response_nonce`; undefined at first. */
  readonly version: string | undefined;
}

export type ReadDelta = { readonly request: DeltaRequest } | { readonly problem: string };

/** Reads a DeltaDiscoveryRequest in proto JSON, with proto or camelCase names. */
export function readDelta(body: string): ReadDelta {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { problem: "the body is not JSON" };
  }
  if (!isRecord(json)) return { problem: "the body is not a DeltaDiscoveryRequest" };
  const node = readNode(json.node);
  if (node === undefined) return { problem: "node has no id" };
  const typeUrl = json.type_url ?? json.typeUrl;
  const subscribe = textList(json.resource_names_subscribe ?? json.resourceNamesSubscribe ?? []);
  const unsubscribe = textList(json.resource_names_unsubscribe ?? json.resourceNamesUnsubscribe ?? []);
  const known = textRecord(json.initial_resource_versions ?? json.initialResourceVersions ?? {});
  const nonce = json.response_nonce ?? json.responseNonce ?? "";
  if (subscribe === undefined) return { problem: "resource_names_subscribe is not a list of texts" };
  if (unsubscribe === undefined) return { problem: "resource_names_unsubscribe is not a list of texts" };
  if (known === undefined) return { problem: "initial_resource_versions is not a map of texts" };
  return {
    request: {
      node,
      typeUrl: typeof typeUrl === "string" && typeUrl !== "" ? typeUrl : undefined,
      ...subscriptionOf(subscribe, unsubscribe, known),
      version: typeof nonce === "string" && nonce !== "" ? nonce : undefined,
    },
  };
}

/** What the lists of a request come to: without names, or with `*`, everything is wanted. */
export function subscriptionOf(
  subscribe: readonly string[],
  unsubscribe: readonly string[],
  known: Readonly<Record<string, string>>,
): Pick<DeltaRequest, "names" | "known"> {
  const gone = new Set(unsubscribe);
  const kept = Object.fromEntries(Object.entries(known).filter(([name]) => !gone.has(name)));
  const all = subscribe.length === 0 || subscribe.includes("*");
  return { names: all ? undefined : subscribe, known: kept };
}

function textList(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((element) => typeof element === "string") ? value : undefined;
}

function textRecord(value: unknown): Readonly<Record<string, string>> | undefined {
  if (!isRecord(value)) return undefined;
  const entries = Object.entries<JsonRecord[string]>(value).flatMap(([name, version]) =>
    typeof version === "string" ? [[name, version] as const] : [],
  );
  return entries.length === Object.keys(value).length ? Object.fromEntries(entries) : undefined;
}
