/**
 * Namespaces whose services proxies may fetch the keys of a rule from: the rule's own, the root namespace, and that of a Kubernetes service
 * which the host names. An entry of any other namespace for an issuer's host would let its writer say which tokens are good.
 */
export function keyHostNamespaces(host: string, namespace: string, rootNamespace: string): readonly string[] {
  const [, ofService = "", kind] = host.split(".");
  return [...new Set([namespace, rootNamespace, ...(kind === "svc" ? [ofService] : [])])];
}
