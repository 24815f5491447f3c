/**
 * The steps that Istio's answers went through before they were written down, and that ours go through to be compared: what Istio's own
 * proxy alone understands is taken out, and lists whose order means nothing are sorted. Comparison ignores the order of keys.
 */
import { byCodePoint } from "../../lib/base/diagnostic.ts";
import { isArray, isObject, type Json, type JsonObject } from "./json.ts";

/** Normalises one resource file: a list of bare resources of one type, in any order. */
export const normaliseFile = (resources: Json): Json => sortedFile(normalise(resources, isForeign));

/** The same, with what Istio's own proxy alone understands left in. */
export const ordered = (resources: Json): Json => sortedFile(normalise(resources, nothingIsForeign));

const sortedFile = (resources: Json): Json => (isArray(resources) ? sortedBy(resources, resourceName) : resources);

/** What is taken out. */
interface Foreign {
  filter(element: Json): boolean;
  perFilter(name: string, config: Json): boolean;
}

function resourceName(resource: Json): string {
  return isObject(resource) ? text(resource.name) || text(resource.clusterName) : "";
}

function normalise(value: Json, foreign: Foreign): Json {
  if (isArray(value))
    return value.filter((element) => !foreign.filter(element)).map((element) => normalise(element, foreign));
  if (!isObject(value)) return value;
  const result: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    const normal = normaliseMember(key, member, foreign);
    if (normal !== undefined) result[key] = normal;
  }
  return result;
}

/** One member of an object; undefined when nothing is left of it. */
function normaliseMember(key: string, member: Json, foreign: Foreign): Json | undefined {
  if (key === "typedPerFilterConfig" && isObject(member)) {
    const kept = Object.entries(member).filter(([name, config]) => !foreign.perFilter(name, config));
    if (kept.length === 0 && Object.keys(member).length > 0) return undefined;
    return Object.fromEntries(kept.map(([name, config]) => [name, normalise(config, foreign)]));
  }
  const normal = normalise(member, foreign);
  if (!isArray(normal) || !isArray(member)) return normal;
  if (normal.length === 0 && member.length > 0) return undefined;
  switch (key) {
    case "lbEndpoints":
      return [...normal].sort(byEndpointAddress);
    case "queryParameters":
      return sortedBy(normal, (parameter) => (isObject(parameter) ? text(parameter.name) : ""));
    case "filterChains":
      return sortPrefixRangeChains(normal);
    default:
      return normal;
  }
}

/** Whether an element of a list is a filter that Istio's own proxy alone has. */
export function isForeignFilter(element: Json): boolean {
  if (!isObject(element) || typeof element.name !== "string" || !isObject(element.typedConfig)) return false;
  return element.name.startsWith("istio.") || isForeignType(element.typedConfig);
}

const isForeign: Foreign = {
  filter: isForeignFilter,
  perFilter: (name, config) => name.startsWith("istio.") || (isObject(config) && isForeignType(config)),
};

const nothingIsForeign: Foreign = { filter: () => false, perFilter: () => false };

const typePrefix = "type.googleapis.com/";
const knownPackages = ["envoy.", "xds.", "google.", "udpa."];

function isForeignType(config: JsonObject): boolean {
  const own = withoutPrefix(text(config["@type"]));
  const type = own.endsWith(".TypedStruct") ? withoutPrefix(text(config.typeUrl)) : own;
  return !knownPackages.some((known) => type.startsWith(known));
}

function withoutPrefix(typeUrl: string): string {
  return typeUrl.startsWith(typePrefix) ? typeUrl.slice(typePrefix.length) : typeUrl;
}

function byEndpointAddress(a: Json, b: Json): number {
  const left = endpointAddress(a);
  const right = endpointAddress(b);
  return byCodePoint(left.address, right.address) || left.port - right.port || byCodePoint(left.pipe, right.pipe);
}

function endpointAddress(endpoint: Json): { address: string; port: number; pipe: string } {
  const address = member(member(endpoint, "endpoint"), "address");
  const socket = member(address, "socketAddress");
  const port = member(socket, "portValue");
  return {
    address: text(member(socket, "address")),
    port: typeof port === "number" ? port : 0,
    pipe: text(member(member(address, "pipe"), "path")),
  };
}

/** Sorts the chains that match on one address range and nothing else, among the places that they hold. */
function sortPrefixRangeChains(chains: readonly Json[]): readonly Json[] {
  const places = chains.flatMap((chain, place) => (onlyPrefixRange(chain) === undefined ? [] : [place]));
  const sorted = sortedBy(
    places.flatMap((place) => chains[place] ?? []),
    (chain) => onlyPrefixRange(chain) ?? "",
  );
  const result = [...chains];
  places.forEach((place, index) => {
    const chain = sorted[index];
    if (chain !== undefined) result[place] = chain;
  });
  return result;
}

function onlyPrefixRange(chain: Json): string | undefined {
  const match = member(chain, "filterChainMatch");
  if (!isObject(match) || Object.keys(match).length !== 1) return undefined;
  const ranges = match.prefixRanges;
  if (!isArray(ranges) || ranges.length !== 1) return undefined;
  return text(member(ranges[0], "addressPrefix"));
}

function member(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) ? value[key] : undefined;
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function sortedBy(values: readonly Json[], key: (value: Json) => string): readonly Json[] {
  return [...values].sort((a, b) => byCodePoint(key(a), key(b)));
}
