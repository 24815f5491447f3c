/**
 * Whether some name matches both hosts; wildcards are `*` or `*suffix`.
 * @see docs/how-istio-does-it/names.md#wildcards
 * @see istio 1.30.3 pkg/config/host/name.go, Matches
 */
export function hostsOverlap(a: string, b: string): boolean {
  if (!a.startsWith("*") && !b.startsWith("*")) return a === b;
  const [wildcard, other] = a.startsWith("*") && (!b.startsWith("*") || a.length <= b.length) ? [a, b] : [b, a];
  return other.slice(other.startsWith("*") ? 1 : 0).endsWith(wildcard.slice(1));
}

/** Whether every name that `inner` matches is matched by `outer`. */
export function hostIsWithin(inner: string, outer: string): boolean {
  if (inner === outer) return true;
  if (!outer.startsWith("*")) return false;
  const wildcard = inner.startsWith("*");
  if (wildcard && inner.length < outer.length) return false;
  return inner.slice(wildcard ? 1 : 0).endsWith(outer.slice(1));
}
