import { type Command, InvalidArgumentError, Option } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { nodeStates } from "../../front/nodes/in-force.ts";
import { recordedIn } from "../../front/nodes/node-records.ts";
import type { NodeState, ResourceState } from "../../front/nodes/node-state.ts";
import { headTimeNow } from "../../snapshot/head/clock.ts";
import { readHead } from "../../snapshot/head/head.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { storeForms } from "../../storage/store-location.ts";
import { printTable } from "../config/config-print.ts";
import { examplesText } from "../examples.ts";
import { openThere, storeInstead } from "../named-store.ts";
import { jsonOption } from "../output-option.ts";
import { addFrontOptions, askFront } from "../snapshots/ask-front.ts";
import { nodesRead, readAnswer } from "../snapshots/front-answers.ts";
import { nothingPublished } from "../snapshots/nothing-published.ts";
import type { Terminal } from "../terminal.ts";
import { recordedRefusals } from "./recorded-refusals.ts";
import { refusedLines } from "./refused-lines.ts";
import { unreadRecords } from "./unread-records.ts";

interface Options {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly store?: string;
  readonly output?: "json";
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

function headsFor(nodes: readonly NodeState[]): readonly Head[] {
  const [type] = agentHead;
  const isAgents = nodes.some(
    ({ resources, notSent }) => resources.some((one) => one.type === type) || notSent.some((one) => one === type),
  );
  return isAgents ? [...heads, agentHead] : heads;
}

const meanings = `
SYNCED    the proxy has accepted the version that is in force for it (canary and rollout stage counted)
NOT SENT  there are resources of the type, and the proxy has accepted none
STALE     it has accepted another version, or it is no longer heard: SEEN shows since when
REFUSED   it rejects the version in force and keeps the one before (istioctl: ERROR)
IGNORED   there are no resources of the type, and it requests none
TAKEN     it has secrets, which have no version
GONE      it has missed ten poll intervals, or its stream ended more than a minute ago
"2 of 9" counts resources that a proxy requests by name. A proxy is connected while it holds a stream or a poll open, or has polled within three
poll intervals. It is left out 15 minutes after its last request.`;

/** `portolan proxy-status`: which proxy runs what is in force for it, which does not, and why. */
export function registerProxyStatus(program: Command, terminal: Terminal): void {
  const command = program
    .command("proxy-status [node]")
    .alias("ps")
    .description(
      "Shows which proxies are up to date, which are stale, which reject their configuration and why, and which are disconnected.",
    );
  addFrontOptions(command, `URL of the front (default: ${usualServer})`)
    .addOption(
      storeInstead(`instead of asking one: what fronts have written of their proxies into this store: ${storeForms()}`),
    )
    .addOption(new Option("-o, --output <format>", "json: all fields of each proxy").choices(["json"]))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `${meanings}\n${examplesText([
        "proxy-status",
        "proxy-status storefront-1.bookshop --server https://front.example.com --token-file token --json",
        "proxy-status --store s3://mesh/prod",
        "proxy-status -o json",
      ])}`,
    )
    .action(async (node: string | undefined, options: Options, command: Command) => {
      const { server, output } = options;
      if (server !== undefined && command.getOptionValueSource("store") === "cli")
        throw new InvalidArgumentError("give one of --server and --store");
      const store = server === undefined ? options.store : undefined;
      const report =
        store === undefined
          ? await askedReport({ ...options, server: server ?? usualServer }, node)
          : await storedReport(store, node);
      if (output === "json") return terminal.out(JSON.stringify(report, undefined, 2));
      if (report.unread !== undefined) terminal.err(unreadRecords(report.unread));
      const named = node === undefined ? "" : ` whose name holds ${JSON.stringify(node)}`;
      const none =
        store === undefined
          ? `no proxy${named} has asked this front`
          : `no server has reported a proxy${named} to this store`;
      if (report.nodes.length === 0 && node !== undefined)
        throw new PortolanError(`${none}; without a name all are shown`);
      if (report.nodes.length === 0) return terminal.out(none);
      const nameOf = shortNames(report.nodes);
      const shown = headsFor(report.nodes);
      const nowMs = Date.now();
      const rows = report.nodes.map((one) => [
        nameOf(one),
        one.cluster ?? "-",
        ...cellsOf(one, shown),
        seenText(one, nowMs),
        transportsOf(one),
      ]);
      printTable(terminal, [["NAME", "CLUSTER", ...shown.map(([, head]) => head), "SEEN", "TRANSPORT"], ...rows]);
      if (report.more > 0) terminal.out(`and ${report.more} more; name one, or a part of its name`);
      for (const one of report.nodes) for (const line of refusedLines(nameOf(one), one)) terminal.out(line);
      if (report.nodes.some(({ resources }) => resources.some(isUnplaced)))
        terminal.out("`portolan status --server URL --store STORE` names the file and line of each object");
    });
}

interface Report {
  readonly nodes: readonly NodeState[];
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
  const reader = createSnapshotReader(store);
  const inForce = { reader, head: read.head, nowMs };
  const refusals = await recordedRefusals(store, inForce, asked);
  const states = await nodeStates(inForce, asked, { nowMs: Date.now(), refusals });
  return { nodes: states, more: 0, ...unread };
}

/** `pod.namespace`; the whole id of those whose name others have, too, and `id@cluster` of those whose id is also that of others. */
function shortNames(nodes: readonly NodeState[]): (node: NodeState) => string {
  const [byName, byId] = [Map.groupBy(nodes, ({ name }) => name), Map.groupBy(nodes, ({ node }) => node)];
  return (one) => {
    if (byName.get(one.name)?.length === 1) return one.name;
    return byId.get(one.node)?.length === 1 || one.cluster === undefined ? one.node : `${one.node}@${one.cluster}`;
  };
}

/** The worst first. */
const worstFirst: readonly ResourceState[] = ["gone", "refused", "stale", "taken", "synced"];

const cellsOf = ({ resources, notSent }: NodeState, shown: readonly Head[]): readonly string[] =>
  shown.map(([type]) => {
    const of = resources.filter((one) => one.type === type);
    if (of.length === 0) return notSent.some((one) => one === type) ? "NOT SENT" : "IGNORED";
    const count = (wanted: ResourceState) => of.filter(({ state }) => state === wanted).length;
    const worst = worstFirst.find((state) => count(state) > 0) ?? "synced";
    const some = count(worst) === of.length ? "" : ` ${count(worst)} of ${of.length}`;
    return `${worst.toUpperCase()}${some}`;
  });

/** `connected`, else how long ago it was heard: `stale, 12s ago`. */
const seenText = ({ presence, lastSeen }: NodeState, nowMs: number): string =>
  presence === "connected" ? presence : `${presence}, ${agoText(nowMs - Date.parse(lastSeen))} ago`;

function agoText(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1_000), 0);
  if (seconds < 120) return `${seconds}s`;
  return seconds < 7_200 ? `${Math.floor(seconds / 60)}m` : `${Math.floor(seconds / 3_600)}h`;
}

const transportsOf = ({ resources }: NodeState): string =>
  [...new Set(resources.map(({ transport }) => transport))].join(", ") || "-";

type Refusing = NodeState["resources"][number];

const isUnplaced = ({ refused }: Refusing): boolean => refused?.parts.every(({ at }) => at.length === 0) === true;
