import { add, type Family, portMatches } from "./families.ts";
import type { InterceptOptions } from "./intercept-options.ts";

/** Chains of the table `mangle`, which interception by TPROXY uses. */
export const mangleChains = {
  inbound: "PORTOLAN_INBOUND",
  divert: "PORTOLAN_DIVERT",
  toInbound: "PORTOLAN_TPROXY",
  marks: "PORTOLAN_MARKS",
  output: "PORTOLAN_OUTPUT",
} as const;

export const mangleJumps = [
  ["PREROUTING", mangleChains.marks, "tcp"],
  ["PREROUTING", mangleChains.inbound, "tcp"],
  ["OUTPUT", mangleChains.output, "tcp"],
] as const;

/** Of packets that Envoy sends on with their sender's address, as its listeners are told to. */
const mark = 1337;
/** Of what Envoy sends to the workload's own address, which is to come in like anybody's. */
const outboundMark = 1338;
const routeTable = 133;

/** @see istio 1.30.3 tools/istio-iptables/pkg/capture/run.go */
export function mangleRules({ loopback, inboundSource }: Family, options: InterceptOptions): readonly string[] {
  const { uid, gid, inboundPort } = options;
  const { inbound, divert, toInbound, marks, output } = mangleChains;
  return [
    // A connection keeps the mark of its first packet.
    add(marks, `-p tcp -m mark --mark ${mark} -j CONNMARK --save-mark`),
    // Answers to Envoy's own connections to the workload, the workload's to itself, and what Envoy has let pass already.
    add(inbound, `-p tcp -m mark --mark ${mark} -j RETURN`),
    add(inbound, `-p tcp -s ${inboundSource} -i lo -j RETURN`),
    add(inbound, `-p tcp -i lo -m mark ! --mark ${outboundMark} -j RETURN`),
    ...options.excludeInboundPorts.map((port) => add(inbound, `-p tcp --dport ${port} -j RETURN`)),
    ...portMatches(options.includeInboundPorts).flatMap((match) => [
      add(inbound, `${match} -m conntrack --ctstate RELATED,ESTABLISHED -j ${divert}`),
      add(inbound, `${match} -j ${toInbound}`),
    ]),
    add(divert, `-j MARK --set-mark ${mark}`),
    add(divert, "-j ACCEPT"),
    add(toInbound, `! -d ${loopback} -p tcp -j TPROXY --tproxy-mark ${mark}/0xffffffff --on-port ${inboundPort}`),
    add(output, `-p tcp -o lo -m mark --mark ${mark} -j RETURN`),
    ...[`--uid-owner ${uid}`, `--gid-owner ${gid}`].map((owner) =>
      add(output, `! -d ${loopback} -p tcp -o lo -m owner ${owner} -j MARK --set-mark ${outboundMark}`),
    ),
    // What the workload answers goes back to Envoy, though it is addressed to who called.
    add(output, `-p tcp -m connmark --mark ${mark} -j CONNMARK --restore-mark`),
  ];
}

/** Leads marked packets to this machine, whoever they are addressed to. */
export const routes = ({ flag }: Family): readonly string[] => [
  `ip ${flag} rule show fwmark ${mark} lookup ${routeTable} | grep -q . || ip ${flag} rule add fwmark ${mark} lookup ${routeTable}`,
  `ip ${flag} route replace local default dev lo table ${routeTable}`,
];

export const unroutes = ({ flag }: Family): readonly string[] => [
  `while ip ${flag} rule del fwmark ${mark} lookup ${routeTable} 2>/dev/null; do :; done`,
  `ip ${flag} route flush table ${routeTable} 2>/dev/null || true`,
];
