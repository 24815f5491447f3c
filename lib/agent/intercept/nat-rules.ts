import { dnsChains } from "./dns-rules.ts";
import { add, type Family, portMatches } from "./families.ts";
import type { InterceptOptions } from "./intercept-options.ts";

/** Chains of the table `nat`. */
export const natChains = {
  inbound: "PORTOLAN_INBOUND",
  toInbound: "PORTOLAN_IN_REDIRECT",
  outbound: "PORTOLAN_OUTPUT",
  toOutbound: "PORTOLAN_REDIRECT",
} as const;

export const natJumps = [
  ["PREROUTING", natChains.inbound, "tcp"],
  ["OUTPUT", natChains.outbound, "tcp"],
] as const;

/** @see istio 1.30.3 tools/istio-iptables/pkg/capture/run.go */
export function natRules({ program, loopback, inboundSource }: Family, options: InterceptOptions): readonly string[] {
  const { uid, gid, outboundPort, inboundPort, mode } = options;
  const { inbound, toInbound, outbound, toOutbound } = natChains;
  const isOwn = (range: string) => range !== "*" && range.includes(":") === (program === "ip6tables");
  const included = options.includeOutbound.includes("*")
    ? ["-j"]
    : options.includeOutbound.filter(isOwn).map((range) => `-d ${range} -j`);
  const capturesDns = options.captureDns.length > 0;
  // A nameserver at the workload's own address, or at loopback, is one like any other.
  const notDns = capturesDns ? " -p tcp ! --dport 53" : "";
  return [
    add(toOutbound, `-p tcp -j REDIRECT --to-ports ${outboundPort}`),
    add(toInbound, `-p tcp -j REDIRECT --to-ports ${inboundPort}`),
    ...(mode === "TPROXY"
      ? []
      : [
          ...options.excludeInboundPorts.map((port) => add(inbound, `-p tcp --dport ${port} -j RETURN`)),
          ...portMatches(options.includeInboundPorts).map((match) => add(inbound, `${match} -j ${toInbound}`)),
        ]),
    // What Envoy hands to the workload.
    add(outbound, `-o lo -s ${inboundSource} -j RETURN`),
    // What the workload sends to itself by way of a service comes in like anybody's.
    ...[`--uid-owner ${uid}`, `--gid-owner ${gid}`].flatMap((owner) => [
      ...(mode === "TPROXY"
        ? []
        : [add(outbound, `-o lo ! -d ${loopback}${notDns || " -p tcp"} -m owner ${owner} -j ${toInbound}`)]),
      add(outbound, `-o lo${notDns} -m owner ! ${owner} -j RETURN`),
      add(outbound, `-m owner ${owner} -j RETURN`),
    ]),
    ...(capturesDns ? [add(outbound, `-j ${dnsChains.toAgent}`)] : []),
    add(outbound, `-d ${loopback} -j RETURN`),
    ...options.excludeOutboundPorts.map((port) => add(outbound, `-p tcp --dport ${port} -j RETURN`)),
    ...options.excludeOutbound.filter(isOwn).map((range) => add(outbound, `-d ${range} -j RETURN`)),
    ...included.map((rule) => add(outbound, `${rule} ${toOutbound}`)),
  ];
}
