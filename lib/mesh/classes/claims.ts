import type { NodeClaims } from "../../base/classifier.ts";
import type { Proxy } from "../proxy/proxy.ts";

/** What a node would send for a proxy. */
export function claimsOf(proxy: Proxy): NodeClaims {
  return {
    id: [proxy.type === "router" ? "router" : "sidecar", proxy.addresses[0] ?? "", proxy.id, proxy.dnsDomain].join("~"),
    cluster: proxy.nodeCluster,
    metadata: proxy.metadata.raw,
    locality: proxy.locality,
  };
}
