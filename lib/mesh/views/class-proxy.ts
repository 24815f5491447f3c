import type { Memo } from "../memo/memo.ts";
import { oneValue } from "../memo/same.ts";
import type { Mesh } from "../mesh.ts";
import { isFlagSet, textOf } from "../proxy/node-metadata.ts";
import type { ProxyAnswers } from "./proxy-answers.ts";
import type { ClassProxy, ClassProxyConfig } from "./views.ts";

/** What generators may read of a proxy, whatever the type of resource; one object for all proxies of which it says the same. */
export function classProxyOf(mesh: Mesh, node: ProxyAnswers, memo: Memo): ClassProxy {
  const { families } = node;
  return oneValue(memo, {
    type: node.type,
    namespace: node.namespace,
    dnsDomain: node.dnsDomain,
    clusterId: node.clusterId,
    ipMode: ipModeOf(families),
    firstFamily: families.startsWith("6") ? "IPv6" : "IPv4",
    interceptionMode: node.interceptionMode,
    // Istio's address allocation controller is on by default, so that capturing DNS is enough.
    autoAllocatedAddresses: isFlagSet(node.metadata("DNS_CAPTURE")),
    routerMode: textOf(node.metadata("ROUTER_MODE")),
    istioVersion: mesh.form.claimedVersionHeeded ? textOf(node.metadata("ISTIO_VERSION")) : "",
    proxyConfig: proxyConfigOf(node),
  });
}

/** Of `families` (`46`). */
export function ipModeOf(families: string): ClassProxy["ipMode"] {
  if (families.length > 1) return "dual";
  return families === "6" ? "IPv6" : "IPv4";
}

/** The settings that some generator reads: its type says which, and nothing else can be read. */
function proxyConfigOf(node: ProxyAnswers): ClassProxyConfig {
  const tracing = node.proxyConfig("tracing");
  const serviceCluster = node.proxyConfig("serviceCluster");
  const proxyHeaders = node.proxyConfig("proxyHeaders");
  const gatewayTopology = node.proxyConfig("gatewayTopology");
  return {
    ...(tracing === undefined ? {} : { tracing }),
    ...(serviceCluster === undefined ? {} : { serviceCluster }),
    ...(proxyHeaders === undefined ? {} : { proxyHeaders }),
    ...(gatewayTopology === undefined ? {} : { gatewayTopology }),
  };
}
