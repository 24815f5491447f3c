import { internValue } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import type { Mesh } from "../../mesh.ts";
import { isFlagSet, textOf } from "../../proxy/node-metadata.ts";
import { dynamicDnsOf } from "../dynamic-dns.ts";
import type { ClassProxy, ClassProxyConfig, ServiceScope } from "../views.ts";
import type { ProxyAnswers } from "./proxy-answers.ts";

/** What generators may read of a proxy, whatever the type of resource; one object for all proxies of which it says the same. */
export function classProxyOf(
  mesh: Pick<Mesh, "config" | "form" | "proxyBuild">,
  node: ProxyAnswers,
  scope: Pick<ServiceScope, "outboundTrafficPolicy">,
  memo: Memo,
): ClassProxy {
  const { families } = node;
  const { proxyBuild } = mesh;
  const dynamicDns = dynamicDnsOf(mesh, node, scope);
  const isOfIstio = proxyBuild !== "envoy" && node.build(proxyBuild === "istio" ? "istio" : "envoy") === "istio";
  return internValue(memo, {
    // Istio's address allocation controller is on by default, so that capturing DNS is enough.
    autoAllocatedAddresses: isFlagSet(node.metadata("DNS_CAPTURE")),
    ...(isOfIstio ? { build: "istio" } : {}),
    clusterId: node.clusterId,
    dnsDomain: node.dnsDomain,
    ...(dynamicDns === undefined ? {} : { dynamicDns }),
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

/** The same proxy for route tables, which read neither whose build it is nor how it resolves names. */
export function forTables(proxy: ClassProxy, memo: Memo): ClassProxy {
  if (proxy.build === undefined && proxy.dynamicDns === undefined) return proxy;
  const { build: _build, dynamicDns: _dns, ...others } = proxy;
  return internValue(memo, others);
}

/** What generators may read of a program that speaks xDS itself: nothing that only an Envoy does depends on it. */
export function grpcProxyOf(node: ProxyAnswers, memo: Memo): ClassProxy {
  const { families } = node;
  const proxyHeaders = node.proxyConfig("proxyHeaders");
  return internValue(memo, {
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
  const connectionSettings = node.proxyConfig("connectionSettings");
  return {
    ...(tracing === undefined ? {} : { tracing }),
    ...(serviceCluster === undefined ? {} : { serviceCluster }),
    ...(proxyHeaders === undefined ? {} : { proxyHeaders }),
    ...(gatewayTopology === undefined ? {} : { gatewayTopology }),
    ...(connectionSettings === undefined ? {} : { connectionSettings }),
  };
}
