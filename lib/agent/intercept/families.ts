/** An address family, by its programs and the addresses that mean something here. */
export interface Family {
  readonly program: "iptables" | "ip6tables";
  /** For `ip`. */
  readonly flag: "-4" | "-6";
  readonly loopback: string;
  /** What Envoy connects to the workload from, so that its connections are not taken for others. */
  readonly inboundSource: string;
}

export const families: readonly Family[] = [
  { program: "iptables", flag: "-4", loopback: "127.0.0.1/32", inboundSource: "127.0.0.6/32" },
  { program: "ip6tables", flag: "-6", loopback: "::1/128", inboundSource: "::6/128" },
];

/** Words that pick inbound ports. */
export const portMatches = (included: readonly string[]): readonly string[] =>
  included.includes("*") ? ["-p tcp"] : included.map((port) => `-p tcp --dport ${port}`);

export const add = (chain: string, rule: string): string => `-A ${chain} ${rule}`;
