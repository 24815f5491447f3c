import type { HeaderValueOptionJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import { byCodePoint } from "../../config/diagnostic.ts";
import type { HeaderOperations, Headers } from "../../config/kinds/virtual-service.ts";

/** What a VirtualService does to headers, in the fields of a route or of a weighted cluster; empty ones are left out. */
export interface HeaderMutations {
  readonly requestHeadersToAdd?: HeaderValueOptionJson[];
  readonly requestHeadersToRemove?: string[];
  readonly responseHeadersToAdd?: HeaderValueOptionJson[];
  readonly responseHeadersToRemove?: string[];
}

export interface TranslatedHeaders {
  readonly mutations: HeaderMutations;
  /** Host that the request is sent with; "" where it stays. */
  readonly authority: string;
}

/**
 * Translates `headers` of a route or of a destination. Pseudo headers and `host` are never added or removed;
 * setting or adding the authority becomes a rewrite of the host, which is the caller's to write.
 *
 * @see xds-routes 4.8
 */
export function translateHeaders(headers: Headers | undefined): TranslatedHeaders {
  if (headers === undefined) return { mutations: {}, authority: "" };
  const { request, response } = headers;
  return {
    mutations: mutationsOf(additions(request), removals(request), additions(response), removals(response)),
    authority: authorityIn(request?.set) || authorityIn(request?.add),
  };
}

/** The second's operations behind the first's. */
export function appendMutations(first: HeaderMutations, second: HeaderMutations): HeaderMutations {
  const join = <T>(a: readonly T[] | undefined, b: readonly T[] | undefined): T[] => [...(a ?? []), ...(b ?? [])];
  return mutationsOf(
    join(first.requestHeadersToAdd, second.requestHeadersToAdd),
    join(first.requestHeadersToRemove, second.requestHeadersToRemove),
    join(first.responseHeadersToAdd, second.responseHeadersToAdd),
    join(first.responseHeadersToRemove, second.responseHeadersToRemove),
  );
}

function mutationsOf(
  requestHeadersToAdd: HeaderValueOptionJson[],
  requestHeadersToRemove: string[],
  responseHeadersToAdd: HeaderValueOptionJson[],
  responseHeadersToRemove: string[],
): HeaderMutations {
  return {
    ...(requestHeadersToAdd.length === 0 ? {} : { requestHeadersToAdd }),
    ...(requestHeadersToRemove.length === 0 ? {} : { requestHeadersToRemove }),
    ...(responseHeadersToAdd.length === 0 ? {} : { responseHeadersToAdd }),
    ...(responseHeadersToRemove.length === 0 ? {} : { responseHeadersToRemove }),
  };
}

/** Set ones first, then added ones, each sorted by key. */
function additions(operations: HeaderOperations | undefined): HeaderValueOptionJson[] {
  const overwrite: HeaderValueOptionJson[] = sortedHeaders(operations?.set).map(([key, value]) => ({
    header: headerOf(key, value),
    appendAction: "OVERWRITE_IF_EXISTS_OR_ADD",
  }));
  return [...overwrite, ...sortedHeaders(operations?.add).map(([key, value]) => ({ header: headerOf(key, value) }))];
}

function removals(operations: HeaderOperations | undefined): string[] {
  return (operations?.remove ?? []).filter((key) => !isInternal(key));
}

function sortedHeaders(headers: Readonly<Record<string, string>> | undefined): [string, string][] {
  return Object.entries(headers ?? {})
    .filter(([key]) => !isInternal(key))
    .sort(([a], [b]) => byCodePoint(a, b));
}

function headerOf(key: string, value: string): { key: string; value?: string } {
  return value === "" ? { key } : { key, value };
}

function isInternal(key: string): boolean {
  return key.startsWith(":") || key.toLowerCase() === "host";
}

function authorityIn(headers: Readonly<Record<string, string>> | undefined): string {
  for (const [key, value] of Object.entries(headers ?? {})) {
    const name = key.toLowerCase();
    if (name === ":authority" || name === "host") return value;
  }
  return "";
}
