/**
 * Host names as Istio compares them: exact names, and wildcards that begin with `*`.
 * @see docs/how-istio-does-it/names.md
 * @see istio 1.30.3 pkg/config/host/name.go
 */
import { isIpAddress } from "./ip-address.ts";

export const isWildcard = (host: string): boolean => host.startsWith("*");

/** Do two hosts have a name in common? Symmetric: `*.com` overlaps `a.com` both ways. */
export function hostsOverlap(a: string, b: string): boolean {
  if (isWildcard(a)) {
    if (!isWildcard(b)) return b.endsWith(a.slice(1));
    return a.length < b.length ? b.endsWith(a.slice(1)) : a.endsWith(b.slice(1));
  }
  return isWildcard(b) ? a.endsWith(b.slice(1)) : a === b;
}

/** Is every name that `host` stands for also one of `of`? */
export function isSubsetHost(host: string, of: string): boolean {
  if (!isWildcard(of)) return host === of;
  if (!isWildcard(host)) return host.endsWith(of.slice(1));
  return host.length >= of.length && host.endsWith(of.slice(1));
}

/**
 * A host as mentioned by an object, as a full name: a single label is a service of the object's own namespace.
 * @param domain domain suffix of the mesh
 */
export function fullHostName(host: string, namespace: string, domain: string): string {
  if (host === "" || host === "*" || host.includes(".") || isIpAddress(host)) return host;
  const inNamespace = namespace === "" ? host : `${host}.${namespace}`;
  return domain === "" ? inNamespace : `${inNamespace}.svc.${domain}`;
}

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
