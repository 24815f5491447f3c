import { type Command, InvalidArgumentError } from "commander";
import { PortolanError } from "../../config/diagnostic.ts";
import { type NodeStanding, type StandingResource, standingOf } from "../../front/nodes/in-force.ts";
import { recordedIn } from "../../front/nodes/node-records.ts";
import { parseNodeId } from "../../snapshot/classifier.ts";
import { headTimeNow } from "../../snapshot/head/clock.ts";
import { readHead } from "../../snapshot/head/head.ts";
import { createSnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { storeForms } from "../../storage/store-location.ts";
import { printTable } from "../config/config-print.ts";
import { examplesText } from "../examples.ts";
import { openThere, storeInstead } from "../named-store.ts";
import { addFrontOptions, askFront } from "../snapshots/ask-front.ts";
import { nodesRead, readAnswer } from "../snapshots/front-answers.ts";
import { nothingPublished } from "../snapshots/nothing-published.ts";
import type { Terminal } from "../terminal.ts";
import { unreadRecords } from "./unread-records.ts";

interface Options {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly store?: string;
  readonly json?: boolean;
}

const usualServer = "http://127.0.0.1:8080";

/** A type, and the name of its discovery service. */
type Head = readonly [type: string, head: string];

const heads: readonly Head[] = [
  ["clusters", "CDS"],
  ["listeners", "LDS"],
  ["endpoints", "EDS"],
  ["routes", "RDS"],
  ["extension_configs", "ECDS"],
  ["secrets", "SDS"],
];

/** Tables of names are for agents alone that answer DNS. */
const agentHead: Head = ["name_tables", "NDS"];

function headsFor(nodes: readonly NodeStanding[]): readonly Head[] {
  const [type] = agentHead;
  const isAgents = nodes.some(
    ({ resources, notSent }) => resources.some((one) => one.type === type) || notSent.some((one) => one === type),
  );
  return isAgents ? [...heads, agentHead] : heads;
}

const meanings = `
SYNCED: it has what is in force for it, in its canary and step of a rollout. STALE: it has something else. REFUSED: it was served that, and
keeps what it has. NOT SENT: there is something for it, and it has said of none that it has it. TAKEN: it has secrets. 2 of 9: so many of what it has by name.`;

/** `portolan proxy-status`: which proxy runs what is in force for it, which does not, and why. */
export function registerProxyStatus(program: Command, terminal: Terminal): void {
  const command = program
    .command("proxy-status [node]")
    .alias("ps")
    .description("Shows which proxies run what is in force for them, which are behind, and which refuse it and why.");
  addFrontOptions(command, `the front that they ask (default: ${usualServer})`)
    .addOption(
      storeInstead(`instead of asking one: what fronts have written of their proxies into this store: ${storeForms()}`),
    )
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `${meanings}\n${examplesText([
        "proxy-status",
        "proxy-status storefront-1.bookshop --server https://front.example.com --token-file token --json",
        "proxy-status --store s3://mesh/prod",
      ])}`,
    )
    .action(async (node: string | undefined, options: Options, command: Command) => {
      const { server, json } = options;
      if (server !== undefined && command.getOptionValueSource("store") === "cli")
        throw new InvalidArgumentError("--server or --store: one of them is asked");
      const store = server === undefined ? options.store : undefined;
      const report =
        store === undefined
          ? await askedReport({ ...options, server: server ?? usualServer }, node)
          : await storedReport(store, node);
      if (json === true) return terminal.out(JSON.stringify(report, undefined, 2));
      if (report.unread !== undefined) terminal.err(unreadRecords(report.unread));
      const where = store === undefined ? "asked this front" : "been written of by a front in this store";
      if (report.nodes.length === 0 && node !== undefined)
        throw new PortolanError(
          `no proxy whose name holds ${JSON.stringify(node)} has ${where}; without a name all are shown`,
        );
      if (report.nodes.length === 0) return terminal.out(`no proxy has ${where}`);
      const nameOf = shortNames(report.nodes);
      const shown = headsFor(report.nodes);
      const rows = report.nodes.map((one) => [nameOf(one), ...cellsOf(one, shown), told(one)]);
      printTable(terminal, [["NAME", ...shown.map(([, head]) => head), "TOLD BY"], ...rows]);
      if (report.more > 0) terminal.out(`and ${report.more} more; name one, or a part of its name`);
      for (const one of report.nodes) for (const line of refusedLines(nameOf(one), one)) terminal.out(line);
      if (report.nodes.some(({ resources }) => resources.some(({ state }) => state === "refused")))
        terminal.out("`portolan status --server URL` says which objects, by file and line, it may be about");
    });
}

interface Report {
  readonly nodes: readonly NodeStanding[];
  readonly more: number;
  readonly unread?: number;
}

async function askedReport(
  { server, tokenFile }: Options & { readonly server: string },
  node: string | undefined,
): Promise<Report> {
  const part = node === undefined ? "" : `?node=${encodeURIComponent(node)}`;
  const answer = await askFront(server, tokenFile)(`/status/nodes${part}`, "null");
  const report = readAnswer<Report | null>(server, answer, nodesRead);
  if (report === null)
    throw new PortolanError(`${server} keeps no status of nodes: fronts on Workers and Lambda do not, servers do`);
  return report;
}

/** What fronts that share what they know have written, held against HEAD. */
async function storedReport(where: string, node = ""): Promise<Report> {
  const store = await openThere(where);
  const read = await readHead(store);
  if (read === undefined) throw await nothingPublished(store);
  const nowMs = await headTimeNow(store, read, Date.now);
  const { nodes, ...unread } = await recordedIn(store, nowMs);
  const asked = nodes.filter((one) => one.node.includes(node));
  const inForce = { reader: createSnapshotReader(store), head: read.head, nowMs };
  return { nodes: await standingOf(inForce, asked), more: 0, ...unread };
}

/** `pod.namespace`; the whole id of those whose name others have, too, and `id@cluster` of those whose id is also that of others. */
function shortNames(nodes: readonly NodeStanding[]): (node: NodeStanding) => string {
  const nameOf = ({ node }: NodeStanding) => parseNodeId(node)?.name ?? node;
  const [byName, byId] = [Map.groupBy(nodes, nameOf), Map.groupBy(nodes, ({ node }) => node)];
  return (one) => {
    if (byName.get(nameOf(one))?.length === 1) return nameOf(one);
    return byId.get(one.node)?.length === 1 || one.cluster === undefined ? one.node : `${one.node}@${one.cluster}`;
  };
}

const cellsOf = ({ resources, notSent }: NodeStanding, shown: readonly Head[]): readonly string[] =>
  shown.map(([type]) => {
    const of = resources.filter((one) => one.type === type);
    if (of.length === 0) return notSent.some((one) => one === type) ? "NOT SENT" : "-";
    const count = (wanted: StandingResource["state"]) => of.filter(({ state }) => state === wanted).length;
    const worst = (["refused", "stale", "taken", "synced"] as const).find((state) => count(state) > 0) ?? "synced";
    const some = count(worst) === of.length ? "" : ` ${count(worst)} of ${of.length}`;
    return `${worst.toUpperCase()}${some}`;
  });

const told = ({ resources }: NodeStanding): string =>
  [...new Set(resources.map(({ transport }) => transport))].join(", ") || "-";

const refusedLines = (name: string, { resources }: NodeStanding): readonly string[] =>
  resources.flatMap(({ type, name: resource, version, refused, state }) => {
    if (refused === undefined || state !== "refused") return [];
    const what = `${type}${resource === undefined ? "" : ` ${resource}`}`;
    const keeps = version === "" ? "has none" : `keeps ${version.slice(0, 12)}`;
    const words = refused.error === undefined ? "" : `: ${refused.error.replaceAll(/\s+/g, " ")}`;
    return [`${name} refuses ${what} ${refused.version.slice(0, 12)} since ${refused.since}, and ${keeps}${words}`];
  });
