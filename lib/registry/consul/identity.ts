import { fieldsOf, textOf } from "../../base/untyped.ts";
import { askConsul, type ConsulClient } from "./agent.ts";

/**
 * What tells a cluster of Consul from others, as an origin says it: the trust domain of its service mesh, which holds an id that was
 * drawn when the cluster began, and which any token may read. Where the mesh is switched off there is none, and the address has to do.
 *
 * @see https://developer.hashicorp.com/consul/api-docs/connect/ca#list-ca-root-certificates
 */
export async function consulIdentity(
  client: Omit<ConsulClient, "datacenter">,
  datacenter: string,
  signal: AbortSignal,
): Promise<string> {
  const asked = askConsul(client, "/v1/connect/ca/roots", signal).then(({ text }) => fieldsOf(JSON.parse(text)));
  const domain = textOf((await asked.catch(() => undefined))?.TrustDomain);
  return domain === "" ? `address ${client.baseUrl}/${datacenter}` : `cluster ${domain}/${datacenter}`;
}
