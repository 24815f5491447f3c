import type { HeaderValueOptionJson } from "../../../../gen/envoy/config/core/v3/base_pb.ts";
import { byCodePoint } from "../../../base/diagnostic.ts";
import type { HeaderOperations, Headers } from "../../../config/kinds/virtual-service.ts";

/** What a VirtualService does to headers, in the fields of a route or of a weighted cluster; empty ones are left out. */
export type HeaderMutations = Readonly<MutableHeaderMutations>;

interface MutableHeaderMutations {
  requestHeadersToAdd?: HeaderValueOptionJson[];
  requestHeadersToRemove?: string[];
  responseHeadersToAdd?: HeaderValueOptionJson[];
  responseHeadersToRemove?: string[];
}

export interface TranslatedHeaders {
  /** undefined: no header is touched. */
  readonly mutations: HeaderMutations | undefined;
  /** Host that the request is sent with; "" where it stays. */
  readonly authority: string;
}

const untouched: TranslatedHeaders = { mutations: undefined, authority: "" };

/**
 * Translates `headers` of a route or of a destination. Pseudo headers and `host` are never added or removed;
 * setting or adding the authority becomes a rewrite of the host, which is the caller's to write.
 *
 * @see docs/how-istio-does-it/routes.md#header-operations
 */
export function translateHeaders(headers: Headers | undefined): TranslatedHeaders {
  if (headers === undefined) return untouched;
  const { request, response } = headers;
  return {
    mutations: mutationsOf(additions(request), removals(request), additions(response), removals(response)),
    authority: authorityIn(request?.set) || authorityIn(request?.add),
  };
}

/** The second's operations behind the first's. */
export function appendMutations(
  first: HeaderMutations | undefined,
  second: HeaderMutations | undefined,
): HeaderMutations | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return mutationsOf(
    join(first.requestHeadersToAdd, second.requestHeadersToAdd),
    join(first.requestHeadersToRemove, second.requestHeadersToRemove),
    join(first.responseHeadersToAdd, second.responseHeadersToAdd),
    join(first.responseHeadersToRemove, second.responseHeadersToRemove),
  );
}

function join<T>(first: T[] | undefined, second: T[] | undefined): T[] | undefined {
  return first === undefined || second === undefined ? (first ?? second) : first.concat(second);
}

// Fields are set one by one, here and in the routes that take these: a spread costs more than all the rest of a route.
function mutationsOf(
  requestHeadersToAdd: HeaderValueOptionJson[] | undefined,
  requestHeadersToRemove: string[] | undefined,
  responseHeadersToAdd: HeaderValueOptionJson[] | undefined,
  responseHeadersToRemove: string[] | undefined,
): HeaderMutations {
  const mutations: MutableHeaderMutations = {};
  if (requestHeadersToAdd !== undefined) mutations.requestHeadersToAdd = requestHeadersToAdd;
  if (requestHeadersToRemove !== undefined) mutations.requestHeadersToRemove = requestHeadersToRemove;
  if (responseHeadersToAdd !== undefined) mutations.responseHeadersToAdd = responseHeadersToAdd;
  if (responseHeadersToRemove !== undefined) mutations.responseHeadersToRemove = responseHeadersToRemove;
  return mutations;
}

/** Set ones first, then added ones, each sorted by key; undefined for none. */
function additions(operations: HeaderOperations | undefined): HeaderValueOptionJson[] | undefined {
  if (operations === undefined) return undefined;
  const { set, add } = operations;
  const options: HeaderValueOptionJson[] = [];
  if (set !== undefined) {
    for (const key of sortedKeys(set)) {
      options.push({ header: headerOf(key, set[key]), appendAction: "OVERWRITE_IF_EXISTS_OR_ADD" });
    }
  }
  if (add !== undefined) for (const key of sortedKeys(add)) options.push({ header: headerOf(key, add[key]) });
  return options.length === 0 ? undefined : options;
}

function removals(operations: HeaderOperations | undefined): string[] | undefined {
  if (operations?.remove === undefined) return undefined;
  const keys = operations.remove.filter((key) => !isInternal(key));
  return keys.length === 0 ? undefined : keys;
}

function sortedKeys(headers: Readonly<Record<string, string>>): readonly string[] {
  const keys = Object.keys(headers).filter((key) => !isInternal(key));
  return keys.length > 1 ? keys.sort(byCodePoint) : keys;
}

function headerOf(key: string, value: string | undefined): { key: string; value?: string } {
  return value === undefined || value === "" ? { key } : { key, value };
}

function isInternal(key: string): boolean {
  return key.startsWith(":") || isHost(key);
}

function isHost(key: string): boolean {
  return key.length === "host".length && key.toLowerCase() === "host";
}

function authorityIn(headers: Readonly<Record<string, string>> | undefined): string {
  if (headers === undefined) return "";
  for (const key of Object.keys(headers)) {
    if (isHost(key) || (key.startsWith(":") && key.toLowerCase() === ":authority")) return headers[key] ?? "";
  }
  return "";
}
