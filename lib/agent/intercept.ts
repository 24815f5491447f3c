import { PortolanError } from "../config/diagnostic.ts";

/** Whose connections go through Envoy. */
export interface InterceptOptions {
  /** Ports of Envoy's listeners for what goes out, and what comes in. */
  readonly outboundPort: number;
  readonly inboundPort: number;
  /** User and group of Envoy, whose own connections are left alone. */
  readonly uid: number;
  readonly gid: number;
  /** `*`, or CIDRs of IPv4 and IPv6. */
  readonly includeOutbound: readonly string[];
  readonly excludeOutbound: readonly string[];
  readonly excludeOutboundPorts: readonly number[];
  /** `*`, or ports. */
  readonly includeInboundPorts: readonly string[];
  readonly excludeInboundPorts: readonly number[];
}

/** As Istio's injection sets them. */
export const defaultIntercept: InterceptOptions = {
  outboundPort: 15_001,
  inboundPort: 15_006,
  uid: 1337,
  gid: 1337,
  includeOutbound: ["*"],
  excludeOutbound: [],
  excludeOutboundPorts: [],
  includeInboundPorts: ["*"],
  excludeInboundPorts: [15_020, 15_021, 15_090],
};

/** An address family, by its program and the addresses that mean something here. */
interface Family {
  readonly program: "iptables" | "ip6tables";
  readonly loopback: string;
  /** What Envoy connects to the workload from, so that its connections are not taken for others. */
  readonly inboundSource: string;
}

const families: readonly Family[] = [
  { program: "iptables", loopback: "127.0.0.1/32", inboundSource: "127.0.0.6/32" },
  { program: "ip6tables", loopback: "::1/128", inboundSource: "::6/128" },
];

const chains = {
  inbound: "PORTOLAN_INBOUND",
  toInbound: "PORTOLAN_IN_REDIRECT",
  outbound: "PORTOLAN_OUTPUT",
  toOutbound: "PORTOLAN_REDIRECT",
} as const;

const jumps = [
  ["PREROUTING", chains.inbound],
  ["OUTPUT", chains.outbound],
] as const;

/**
 * A shell script that leads TCP connections through Envoy's listeners, or no longer. It can be run again and again: chains are filled
 * as a whole, and jumps to them are added once.
 *
 * @see istio 1.30.3 tools/istio-iptables/pkg/capture/run.go
 * @throws PortolanError for something that is no address range: it would be a word of the script
 */
export function interceptScript(options: InterceptOptions): string {
  for (const range of [...options.includeOutbound, ...options.excludeOutbound]) {
    if (range !== "*" && !/^[0-9a-fA-F:.]+(?:\/\d{1,3})?$/.test(range))
      throw new PortolanError(`${JSON.stringify(range)} is no range of addresses: 10.0.0.0/8, fd00::/8 or * are`);
  }
  for (const port of options.includeInboundPorts) {
    if (port !== "*" && !/^\d{1,5}$/.test(port))
      throw new PortolanError(`${JSON.stringify(port)} is no port: numbers or * are`);
  }
  return script(
    "Leads TCP connections through Envoy; made by `portolan intercept`. Run it as root in the workload's network namespace.",
    (family) => [
      `${family.program}-restore --noflush <<'RULES'`,
      "*nat",
      ...Object.values(chains).map((chain) => `:${chain} - [0:0]`),
      ...rulesFor(family, options),
      "COMMIT",
      "RULES",
      ...jumps.map(
        ([from, to]) =>
          `${family.program} -t nat -C ${from} -p tcp -j ${to} 2>/dev/null || ${family.program} -t nat -A ${from} -p tcp -j ${to}`,
      ),
    ],
  );
}

/** A shell script that undoes the other one, and is content where there is nothing to undo. */
export const cleanScript = (): string =>
  script("Undoes `portolan intercept`.", ({ program }) => [
    ...jumps.map(([from, to]) => `while ${program} -t nat -D ${from} -p tcp -j ${to} 2>/dev/null; do :; done`),
    ...Object.values(chains).map((chain) => `${program} -t nat -F ${chain} 2>/dev/null || true`),
    ...Object.values(chains).map((chain) => `${program} -t nat -X ${chain} 2>/dev/null || true`),
  ]);

function script(title: string, lines: (family: Family) => readonly string[]): string {
  const parts = families.map((family) => {
    const { program } = family;
    const missing =
      program === "iptables"
        ? 'echo "portolan intercept: iptables does not work here: is it installed, and is this root?" >&2; exit 1'
        : 'echo "portolan intercept: no ip6tables here: IPv6 is left alone" >&2';
    return [`if ${program} -t nat -L OUTPUT -n >/dev/null 2>&1; then`, ...lines(family), "else", `  ${missing}`, "fi"];
  });
  return ["#!/bin/sh", `# ${title}`, "set -eu", ...parts.flat(), ""].join("\n");
}

function rulesFor({ program, loopback, inboundSource }: Family, options: InterceptOptions): readonly string[] {
  const { uid, gid, outboundPort, inboundPort } = options;
  const isOwn = (range: string) => range !== "*" && range.includes(":") === (program === "ip6tables");
  const add = (chain: string, rule: string) => `-A ${chain} ${rule}`;
  const included = options.includeOutbound.includes("*")
    ? ["-j"]
    : options.includeOutbound.filter(isOwn).map((range) => `-d ${range} -j`);
  const ports = options.includeInboundPorts.includes("*")
    ? ["-p tcp -j"]
    : options.includeInboundPorts.map((port) => `-p tcp --dport ${port} -j`);
  return [
    add(chains.toOutbound, `-p tcp -j REDIRECT --to-ports ${outboundPort}`),
    add(chains.toInbound, `-p tcp -j REDIRECT --to-ports ${inboundPort}`),
    ...options.excludeInboundPorts.map((port) => add(chains.inbound, `-p tcp --dport ${port} -j RETURN`)),
    ...ports.map((rule) => add(chains.inbound, `${rule} ${chains.toInbound}`)),
    // What Envoy hands to the workload.
    add(chains.outbound, `-o lo -s ${inboundSource} -j RETURN`),
    // What the workload sends to itself by way of a service comes in like anybody's.
    ...[`--uid-owner ${uid}`, `--gid-owner ${gid}`].flatMap((owner) => [
      add(chains.outbound, `-o lo ! -d ${loopback} -p tcp -m owner ${owner} -j ${chains.toInbound}`),
      add(chains.outbound, `-o lo -m owner ! ${owner} -j RETURN`),
      add(chains.outbound, `-m owner ${owner} -j RETURN`),
    ]),
    add(chains.outbound, `-d ${loopback} -j RETURN`),
    ...options.excludeOutboundPorts.map((port) => add(chains.outbound, `-p tcp --dport ${port} -j RETURN`)),
    ...options.excludeOutbound.filter(isOwn).map((range) => add(chains.outbound, `-d ${range} -j RETURN`)),
    ...included.map((rule) => add(chains.outbound, `${rule} ${chains.toOutbound}`)),
  ];
}
