/**
 * Trust domain and aliases of a mesh, the domain first: an identity of one is an identity of all.
 * `cluster.local` in a policy stands for the mesh's own domain.
 * @see docs/how-istio-does-it/security.md#trust-domains
 */
export type TrustDomains = readonly string[];

/** Parts of `<trust domain>/ns/<namespace>/sa/<service account>`. */
const identityParts = 5;

/** Principals with those of the mesh's own trust domain repeated for every alias; no duplicates per principal. */
export function withAliases(principals: readonly string[], domains: TrustDomains): readonly string[] {
  return principals.flatMap((principal) => {
    const [domain = "", ...rest] = principal.split("/");
    if (rest.length + 1 !== identityParts || domain === "*") return [principal];
    if (domain !== "cluster.local" && !domains.some((own) => isSame(domain, own))) return [principal];
    const all = domains.map((own) => (endsLike(own, domain) ? principal : [own, ...rest].join("/")));
    return [...new Set(all)];
  });
}

/** Trust domains with those of the mesh replaced by all of them. */
export function expandDomains(values: readonly string[], domains: TrustDomains): readonly string[] {
  return [...new Set(values.flatMap((value) => (domains.includes(value) ? domains : [value])))];
}

/** Equal, or one is a wildcard (`*end`, `start*`) that the other matches. */
function isSame(a: string, b: string): boolean {
  return a === b || endsLike(a, b) || endsLike(b, a) || startsLike(a, b) || startsLike(b, a);
}

function endsLike(text: string, pattern: string): boolean {
  return pattern.startsWith("*") && text.endsWith(pattern.slice(1));
}

function startsLike(text: string, pattern: string): boolean {
  return pattern.endsWith("*") && text.startsWith(pattern.slice(0, -1));
}
