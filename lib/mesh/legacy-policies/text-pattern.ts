/**
 * How roles match texts that are known when they are converted (hosts of services, labels, accounts): `*`, `start*`, `*end`
 * or the whole text.
 * @see istio 1.4.10 pilot/pkg/security/authz/model/util.go
 */
export function matchesPattern(text: string, pattern: string): boolean {
  if (pattern === "*" || pattern === text) return true;
  if (pattern.endsWith("*") && text.startsWith(pattern.slice(0, -1))) return true;
  return pattern.startsWith("*") && text.endsWith(pattern.slice(1));
}

export function matchesAny(text: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(text, pattern));
}

/** `name` of `key[name]`, for a key of that form; undefined for any other. */
export function inBrackets(key: string, prefix: string): string | undefined {
  if (!key.startsWith(`${prefix}[`) || !key.endsWith("]")) return undefined;
  return key.slice(prefix.length + 1, -1);
}
