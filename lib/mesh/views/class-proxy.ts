import type { Memo } from "../memo/memo.ts";
import { oneValue } from "../memo/same.ts";
import type { Mesh } from "../mesh.ts";
import { isFlagSet, textOf } from "../proxy/node-metadata.ts";
import type { ProxyAnswers } from "./proxy-answers.ts";
import type { ClassProxy, ClassProxyConfig } from "./views.ts";

/** What generators may read of a proxy, whatever the type of resource; one object for all proxies of which it says the same. */
export function classProxyOf(mesh: Pick<Mesh, "form">, node: ProxyAnswers, memo: Memo): ClassProxy {
  const { families } = node;
  return oneValue(memo, {
    // Istio's address allocation controller is on by default, so that capturing DNS is enough.
    autoAllocatedAddresses: isFlagSet(node.metadata("DNS_CAPTURE")),
    clusterId: node.clusterId,
    dnsDomain: node.dnsDomain,
    firstFamily: families.startsWith("6") ? "IPv6" : "IPv4",
    interceptionMode: node.interceptionMode,
    ipMode: ipModeOf(families),
    istioVersion: mesh.form.claimedVersionHeeded ? textOf(node.metadata("ISTIO_VERSION")) : "",
    namespace: node.namespace,
    proxyConfig: proxyConfigOf(node),
    routerMode: textOf(node.metadata("ROUTER_MODE")),
    type: envoyTypeOf(node),
  });
}

/** What generators may read of a program that speaks xDS itself: nothing that only an Envoy does depends on it. */
export function grpcProxyOf(node: ProxyAnswers, memo: Memo): ClassProxy {
  const { families } = node;
  const proxyHeaders = node.proxyConfig("proxyHeaders");
  return oneValue(memo, {
    autoAllocatedAddresses: isFlagSet(node.metadata("DNS_CAPTURE")),
    clusterId: node.clusterId,
    dnsDomain: node.dnsDomain,
    firstFamily: families.startsWith("6") ? "IPv6" : "IPv4",
    interceptionMode: "REDIRECT",
    ipMode: ipModeOf(families),
    istioVersion: "",
    namespace: node.namespace,
    proxyConfig: proxyHeaders === undefined ? {} : { proxyHeaders },
    routerMode: "",
    type: "sidecar",
  });
}

/** Which sort of Envoy the answers for a node are like. */
export const envoyTypeOf = ({ type }: Pick<ProxyAnswers, "type">): ClassProxy["type"] =>
  type === "router" ? "router" : "sidecar";

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
