import { isSubsetHost, isWildcard } from "../../config/values/host-name.ts";

/** Values by host, answering with the value of the most specific host that covers a name. */
export interface HostTable<T> {
  readonly exact: ReadonlyMap<string, T>;
  readonly wildcards: ReadonlyMap<string, T>;
  /** Wildcards whose star is not followed by a dot, longest first: found by scanning. */
  readonly oddWildcards: readonly string[];
}

/** Splits a map of hosts for `mostSpecific`. */
export function hostTable<T>(byHost: ReadonlyMap<string, T>): HostTable<T> {
  const exact = new Map<string, T>();
  const wildcards = new Map<string, T>();
  const odd: string[] = [];
  for (const [host, value] of byHost) {
    if (!isWildcard(host)) exact.set(host, value);
    else {
      wildcards.set(host, value);
      if (host.length > 1 && host[1] !== ".") odd.push(host);
    }
  }
  odd.sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  return { exact, wildcards, oddWildcards: odd };
}

/** The exact host, else the longest wildcard that covers the name; a wildcard name is covered by itself first. */
export function mostSpecific<T>(
  table: HostTable<T>,
  name: string,
): { readonly host: string; readonly value: T } | undefined {
  if (!isWildcard(name)) {
    const value = table.exact.get(name);
    if (value !== undefined) return { host: name, value };
  }
  if (table.wildcards.size === 0) return undefined;
  const odd = table.oddWildcards.find((wildcard) => isSubsetHost(name, wildcard));
  const suffixes = isWildcard(name) ? name.slice(1) : name;
  for (let at = suffixes.indexOf("."); at !== -1; at = suffixes.indexOf(".", at + 1)) {
    const wildcard = `*${suffixes.slice(at)}`;
    if (odd !== undefined && odd.length > wildcard.length) break;
    const value = table.wildcards.get(wildcard);
    if (value !== undefined) return { host: wildcard, value };
  }
  const host = odd ?? "*";
  const value = table.wildcards.get(host);
  return value === undefined ? undefined : { host, value };
}
