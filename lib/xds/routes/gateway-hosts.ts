import { byCodePoint } from "../../base/diagnostic.ts";
import { isWildcard } from "../../config/values/host-name.ts";

/**
 * The hosts of a Gateway server that routes of a namespace may claim: bare ones, `*\/host`, and those of the namespace itself.
 */
export function serverHostsFor(hosts: readonly string[], namespace: string): readonly string[] {
  if (!hosts.some((host) => host.includes("/"))) return hosts;
  return hosts.flatMap((host) => {
    const slash = host.indexOf("/");
    if (slash === -1) return [host];
    const of = host.slice(0, slash);
    return of === "*" || of === namespace ? [host.slice(slash + 1)] : [];
  });
}

/** Exact hosts first, then wildcards; the longer before the shorter, then by code point. */
export function bySpecificity(a: string, b: string): number {
  return Number(isWildcard(a)) - Number(isWildcard(b)) || b.length - a.length || byCodePoint(a, b);
}
