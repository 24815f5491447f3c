/** SPIFFE URI of a service account; `@` cannot stand in a trust domain and becomes `.`. */
export function spiffeUri(trustDomain: string, namespace: string, account: string): string {
  return `spiffe://${trustDomain.replaceAll("@", ".")}/ns/${namespace}/sa/${account}`;
}
