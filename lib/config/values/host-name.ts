/**
 * Host names as Istio compares them: exact names, and wildcards that begin with `*`.
 * @see docs/how-istio-does-it/names.md
 * @see istio 1.30.3 pkg/config/host/name.go
 */
import { isIpAddress } from "./ip-address.ts";

export const isWildcard = (host: string): boolean => host.charCodeAt(0) === star;

const star = "*".charCodeAt(0);

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

/** Of each pair of hosts that overlap, the more specific one; in the order of the first list, each once. */
export function intersectHosts(a: readonly string[], b: readonly string[]): readonly string[] {
  const result: string[] = [];
  for (const one of a) {
    for (const other of b) {
      const common = moreSpecific(one, other);
      if (common !== undefined && !result.includes(common)) result.push(common);
    }
  }
  return result;
}

/** Of two hosts that overlap the one that lies in the other. */
function moreSpecific(a: string, b: string): string | undefined {
  // Most are names, and most pairs have nothing in common.
  if (!isWildcard(b)) return a === b || (isWildcard(a) && isSubsetHost(b, a)) ? b : undefined;
  if (isSubsetHost(a, b)) return a;
  return isSubsetHost(b, a) ? b : undefined;
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
