import { InvalidArgumentError, Option } from "commander";
import { cleanScript, interceptScript } from "../../agent/intercept/intercept.ts";
import { defaultIntercept, type InterceptOptions } from "../../agent/intercept/intercept-options.ts";
import { examplesText } from "../examples.ts";
import { wholeNumber } from "../numbers.ts";
import type { Register } from "../terminal.ts";

interface Options extends InterceptOptions {
  readonly clean?: boolean;
  readonly json?: boolean;
}

const port = wholeNumber(1, 65_535);
const list = (text: string): readonly string[] => text.split(",").filter((word) => word !== "");

function portList(text: string): readonly number[] {
  return list(text).map((word) => {
    try {
      return port(word);
    } catch {
      throw new InvalidArgumentError(`${word} is no port`);
    }
  });
}

/** `portolan intercept`: what Istio's `istio-init` does. */
export const registerIntercept: Register = (program, terminal) => {
  program
    .command("intercept")
    .description(
      "Prints a shell script that redirects a workload's TCP connections to its Envoy with iptables and ip6tables. Running it twice is safe.",
    )
    .option("--clean", "print the script that removes the rules")
    .addOption(
      new Option("--mode <mode>", "how inbound connections reach Envoy: TPROXY keeps the client's address (NET_ADMIN)")
        .choices(["REDIRECT", "TPROXY"])
        .default(defaultIntercept.mode),
    )
    .option("--outbound-port <port>", "port of Envoy's outbound listener", port, defaultIntercept.outboundPort)
    .option("--inbound-port <port>", "port of Envoy's inbound listener", port, defaultIntercept.inboundPort)
    .option(
      "--uid <number>",
      "user id of Envoy, whose connections are not redirected",
      wholeNumber(0),
      defaultIntercept.uid,
    )
    .option("--gid <number>", "its group", wholeNumber(0), defaultIntercept.gid)
    .option("--include-outbound <ranges>", "CIDRs, or *", list, defaultIntercept.includeOutbound)
    .option(
      "--exclude-outbound <ranges>",
      "destination CIDRs that are not redirected",
      list,
      defaultIntercept.excludeOutbound,
    )
    .option(
      "--exclude-outbound-ports <ports>",
      "ports that are left alone",
      portList,
      defaultIntercept.excludeOutboundPorts,
    )
    .option(
      "--include-inbound-ports <ports>",
      "ports of the workload, or *",
      list,
      defaultIntercept.includeInboundPorts,
    )
    .option(
      "--exclude-inbound-ports <ports>",
      "ports that are left alone",
      portList,
      defaultIntercept.excludeInboundPorts,
    )
    .option(
      "--capture-dns <addresses>",
      "nameservers that the agent replaces, or *; needs its --dns-port",
      list,
      defaultIntercept.captureDns,
    )
    .option("--dns-port <port>", "the agent's port for DNS", port, defaultIntercept.dnsPort)
    .option("--json", "the script as a JSON string")
    .addHelpText(
      "after",
      examplesText([
        "intercept | sh",
        "intercept --mode TPROXY | sh",
        "intercept --capture-dns 10.96.0.10 | sh",
        "intercept --exclude-outbound 10.0.0.0/8 > intercept.sh",
        "intercept --clean | sh",
      ]),
    )
    .action(({ clean = false, json = false, ...options }: Options) => {
      const script = clean ? cleanScript() : interceptScript(options);
      terminal.out(json ? JSON.stringify({ script }) : script.trimEnd());
    });
};
