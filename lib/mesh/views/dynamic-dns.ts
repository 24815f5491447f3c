import { isIpAddress } from "../../config/values/ip-address.ts";
import type { Mesh } from "../mesh.ts";
import { isFlagSet, textOf } from "../proxy/node-metadata.ts";
import type { ProxyAnswers } from "./proxies/proxy-answers.ts";
import type { DynamicDns, ServiceScope } from "./views.ts";

/** Where an agent's DNS server listens unless the proxy says otherwise. */
const usualResolver = { address: "127.0.0.1", port: 15053 };

/** @returns undefined where hosts are not resolved: at gateways, and where the mesh or a Sidecar has another policy */
export function dynamicDnsOf(
  { config }: Pick<Mesh, "config">,
  node: Pick<ProxyAnswers, "type" | "metadata">,
  { outboundTrafficPolicy }: Pick<ServiceScope, "outboundTrafficPolicy">,
): DynamicDns | undefined {
  if (outboundTrafficPolicy.mode !== "ALLOW_ANY_DYNAMIC_DNS" || node.type === "router") return undefined;
  const { dynamicDnsMaxHosts: maxHosts } = config.rules;
  if (!isFlagSet(node.metadata("DNS_CAPTURE"))) return { maxHosts };
  return { maxHosts, resolver: readResolver(textOf(node.metadata("DNS_PROXY_ADDR"))) };
}

/** Reads `host:port`; an address or a port that cannot be read is the usual one. */
function readResolver(text: string): NonNullable<DynamicDns["resolver"]> {
  const [, bracketed, plain = bracketed ?? "", digits = ""] = /^(?:\[([^\]]+)\]|([^:]+)):([^:]*)$/.exec(text) ?? [];
  const address = plain === "localhost" ? usualResolver.address : plain;
  if (!isIpAddress(address)) return usualResolver;
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  return { address, port: port > 0 && port <= 65_535 ? port : usualResolver.port };
}
