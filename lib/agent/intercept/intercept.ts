import { isIP } from "node:net";
import { PortolanError } from "../../base/diagnostic.ts";
import { dnsChains, dnsJumps, dnsRules, zoneChains, zoneJumps, zoneRules } from "./dns-rules.ts";
import { type Family, families } from "./families.ts";
import type { InterceptOptions } from "./intercept-options.ts";
import { natChains, natJumps, natRules } from "./nat-rules.ts";
import { mangleChains, mangleJumps, mangleRules, routes, unroutes } from "./tproxy-rules.ts";

/** What stands in a table: chains that are filled as a whole, and what leads to them. */
interface Table {
  readonly name: "nat" | "mangle" | "raw";
  readonly chains: readonly string[];
  readonly jumps: readonly (readonly [from: string, to: string, protocol: "tcp" | "udp"])[];
}

const nat: Table = {
  name: "nat",
  chains: [...Object.values(natChains), ...Object.values(dnsChains)],
  jumps: [...natJumps, ...dnsJumps],
};
const raw: Table = { name: "raw", chains: Object.values(zoneChains), jumps: zoneJumps };
const mangle: Table = { name: "mangle", chains: Object.values(mangleChains), jumps: mangleJumps };

/**
 * A shell script that leads TCP connections through Envoy's listeners, and DNS to the agent where it is captured. It can be run again and again: chains are filled
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
  for (const address of options.captureDns) {
    if (address !== "*" && isIP(address) === 0)
      throw new PortolanError(
        `${JSON.stringify(address)} is no address of a nameserver: 10.96.0.10, fd00::10 or * are`,
      );
  }
  for (const port of options.includeInboundPorts) {
    if (port !== "*" && !/^\d{1,5}$/.test(port))
      throw new PortolanError(`${JSON.stringify(port)} is no port: numbers or * are`);
  }
  const title =
    "Leads TCP connections through Envoy; made by `portolan intercept`. Run it as root in the workload's network namespace.";
  return script(title, (family) => [
    ...fill(family, nat, [...natRules(family, options), ...dnsRules(family, options)]),
    ...(options.captureDns.length > 0 ? fill(family, raw, zoneRules(family, options)) : clear(family, raw)),
    ...(options.mode === "TPROXY"
      ? [...routes(family), ...fill(family, mangle, mangleRules(family, options))]
      : // What the other way of interception has left.
        [...clear(family, mangle), ...unroutes(family)]),
  ]);
}

/** A shell script that undoes the other one, and is content where there is nothing to undo. */
export const cleanScript = (): string =>
  script("Undoes `portolan intercept`.", (family) => [
    ...clear(family, nat),
    ...clear(family, raw),
    ...clear(family, mangle),
    ...unroutes(family),
  ]);

function fill({ program }: Family, { name, chains, jumps }: Table, rules: readonly string[]): readonly string[] {
  return [
    `${program}-restore --noflush <<'RULES'`,
    `*${name}`,
    ...chains.map((chain) => `:${chain} - [0:0]`),
    ...rules,
    "COMMIT",
    "RULES",
    ...jumps.map(([from, to, protocol]) => {
      const jump = `${from} -p ${protocol} -j ${to}`;
      return `${program} -t ${name} -C ${jump} 2>/dev/null || ${program} -t ${name} -A ${jump}`;
    }),
  ];
}

function clear({ program }: Family, { name, chains, jumps }: Table): readonly string[] {
  const table = `${program} -t ${name}`;
  return [
    ...jumps.map(([from, to, protocol]) => `while ${table} -D ${from} -p ${protocol} -j ${to} 2>/dev/null; do :; done`),
    ...chains.map((chain) => `${table} -F ${chain} 2>/dev/null || true`),
    ...chains.map((chain) => `${table} -X ${chain} 2>/dev/null || true`),
  ];
}

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
