import type { Command } from "commander";
import { PortolanError } from "../../config/diagnostic.ts";
import type { NodeReport, NodeStatus } from "../../front/nodes/node-watch.ts";
import { printTable } from "../config/config-print.ts";
import { examplesText } from "../examples.ts";
import { serverUrl } from "../server-url.ts";
import { askFront } from "../snapshots/ask-front.ts";
import type { Terminal } from "../terminal.ts";

interface Options {
  readonly server: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
}

const heads = [
  ["clusters", "CDS"],
  ["listeners", "LDS"],
  ["endpoints", "EDS"],
  ["routes", "RDS"],
  ["secrets", "SDS"],
] as const;

/** `portolan proxy-status`: which proxy has which version of what, and which keeps an older one. */
export function registerProxyStatus(program: Command, terminal: Terminal): void {
  program
    .command("proxy-status [node]")
    .alias("ps")
    .description(
      "Shows which proxies a front knows, which version of each type they have, and which of them refuse a newer one.",
    )
    .option("--server <url>", "the front", serverUrl, "http://127.0.0.1:8080")
    .option("--token-file <path>", "an operator's token for it")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examplesText([
        "proxy-status",
        "proxy-status web-1.bookshop --server https://front.example.com --token-file token --json",
      ]),
    )
    .action(async (node: string | undefined, { server, tokenFile, json }: Options) => {
      const part = node === undefined ? "" : `?node=${encodeURIComponent(node)}`;
      const report: NodeReport | null = JSON.parse(await askFront(server, tokenFile)(`/status/nodes${part}`, "null"));
      if (report === null) throw new PortolanError(`${server} keeps no status of nodes: fronts at the edge do not`);
      if (json === true) return terminal.out(JSON.stringify(report, undefined, 2));
      if (report.nodes.length === 0 && node !== undefined)
        throw new PortolanError(
          `no proxy whose name holds ${JSON.stringify(node)} has asked this front; without a name all are shown`,
        );
      if (report.nodes.length === 0) return terminal.out("no proxy has asked this front");
      printTable(terminal, [["NAME", ...heads.map(([, head]) => head), "TOLD"], ...report.nodes.map(rowOf)]);
      if (report.more > 0) terminal.out(`and ${report.more} more; name one, or a part of its name`);
      for (const line of report.nodes.flatMap(refusedLines)) terminal.out(line);
    });
}

function rowOf({ node, resources }: NodeStatus): readonly string[] {
  const cells = heads.map(([type]) => {
    const of = resources.filter((one) => one.type === type);
    const [first] = of;
    if (first === undefined) return "-";
    const refused = of.filter((one) => one.refused !== undefined).length;
    if (refused > 0) return of.length === 1 ? "REFUSED" : `REFUSED ${refused} of ${of.length}`;
    return of.length === 1 ? first.version.slice(0, 12) : `TAKEN ${of.length}`;
  });
  return [node, ...cells, [...new Set(resources.map(({ transport }) => transport))].join(", ")];
}

const refusedLines = ({ node, resources }: NodeStatus): readonly string[] =>
  resources.flatMap(({ type, name, version, refused }) =>
    refused === undefined
      ? []
      : [
          `${node} keeps ${type}${name === undefined ? "" : ` ${name}`} ${version.slice(0, 12)}, and refuses ${refused.version.slice(0, 12)} since ${refused.since}`,
        ],
  );
