import { add, type Family } from "./families.ts";
import type { InterceptOptions } from "./intercept-options.ts";

/** Chains of the table `nat`: what leads to the agent, and what over UDP comes there. */
export const dnsChains = { toAgent: "PORTOLAN_DNS", output: "PORTOLAN_DNS_OUTPUT" } as const;

export const dnsJumps = [["OUTPUT", dnsChains.output, "udp"]] as const;

/** Chains of the table `raw`, which keep the workload's questions over UDP and the agent's own apart. */
export const zoneChains = { output: "PORTOLAN_DNS_OUTPUT", input: "PORTOLAN_DNS_INPUT" } as const;

export const zoneJumps = [
  ["OUTPUT", zoneChains.output, "udp"],
  ["PREROUTING", zoneChains.input, "udp"],
] as const;

const owners = ({ uid, gid }: InterceptOptions) => [`--uid-owner ${uid}`, `--gid-owner ${gid}`];

/** The nameservers of a family, as a word of a rule each. @param word `-d` or `-s` */
function servers({ program }: Family, { captureDns }: InterceptOptions, word: string): readonly string[] {
  if (captureDns.includes("*")) return [""];
  return captureDns
    .filter((address) => address.includes(":") === (program === "ip6tables"))
    .map((address) => ` ${word} ${address}`);
}

/** @see istio 1.30.3 tools/istio-iptables/pkg/capture/run.go, SetupDNSRedir */
export function dnsRules(family: Family, options: InterceptOptions): readonly string[] {
  const { toAgent, output } = dnsChains;
  const captured = servers(family, options, "-d");
  return [
    ...["tcp", "udp"].flatMap((protocol) =>
      captured.map((server) =>
        add(toAgent, `-p ${protocol} --dport 53${server} -j REDIRECT --to-ports ${options.dnsPort}`),
      ),
    ),
    ...(captured.length === 0
      ? []
      : [...owners(options).map((owner) => add(output, `-m owner ${owner} -j RETURN`)), add(output, `-j ${toAgent}`)]),
  ];
}

/**
 * Of one question to the agent and its own to a nameserver, from one port to one address, the kernel would make one connection: zones keep
 * them apart. The first zone that a packet is given counts.
 */
export function zoneRules(family: Family, options: InterceptOptions): readonly string[] {
  const { output, input } = zoneChains;
  const [own, workloads] = [1, 2];
  return [
    ...owners(options).flatMap((owner) => [
      add(output, `-p udp --dport 53 -m owner ${owner} -j CT --zone ${own}`),
      add(output, `-p udp --sport ${options.dnsPort} -m owner ${owner} -j CT --zone ${workloads}`),
    ]),
    ...servers(family, options, "-d").map((server) =>
      add(output, `-p udp --dport 53${server} -j CT --zone ${workloads}`),
    ),
    ...servers(family, options, "-s").map((server) => add(input, `-p udp --sport 53${server} -j CT --zone ${own}`)),
  ];
}
