import type { Command } from "commander";
import type { z } from "zod";
import { errorsOf, PortolanError } from "../../base/diagnostic.ts";
import { asOfText, type ShardState } from "../../compile/collected/shard-state.ts";
import { type CollectedState, collectedStates } from "../../compile/collected/source-ages.ts";
import { whyBehind } from "../../compile/collected/stale-sources.ts";
import { diagnosticsOfRoot } from "../../compile/root-diagnostics.ts";
import type { ExplainedRefusal } from "../../front/nodes/explain-refusal.ts";
import { countedNodes, type NodeState, nodeConditions } from "../../front/nodes/node-state.ts";
import type { NodeReport, NodeTransport } from "../../front/nodes/node-watch.ts";
import type { UnmatchedNode } from "../../front/nodes/unmatched-nodes.ts";
import { type LookupKind, lookupKinds } from "../../resolve/lookup-name.ts";
import { type LookupReport, lookupReports } from "../../resolve/lookup-reports.ts";
import { type AnalysisRecord, readAnalysis } from "../../snapshot/analysis-record.ts";
import { clockAheadMs, clockWarnings, headTimeNow, writerAheadMs } from "../../snapshot/head/clock.ts";
import { readHead } from "../../snapshot/head/head.ts";
import { type HeadStatus, statusOf } from "../../snapshot/head/head-status.ts";
import { type HistoryEntry, publicationOf, readHistory } from "../../snapshot/head/history/history.ts";
import { refusalsIn, refusalsText, toldWithInstead } from "../../snapshot/nodes/refusals.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { Pin } from "../../snapshot/root.ts";
import { type LastCollection, lastCollection } from "../../snapshot/upkeep/gc-ledger.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { sharedText } from "../collect/shared-source.ts";
import { namedHere } from "../config/located-messages.ts";
import { examplesText } from "../examples.ts";
import { refusalLocations } from "../inspect/refusal-locations.ts";
import { unreadRecords } from "../inspect/unread-records.ts";
import { openPlaceThere, storeOption } from "../named-store.ts";
import { counted } from "../numbers.ts";
import { refusalLines, unmatchedLines } from "../proxy/node-trouble.ts";
import { missingSecrets, missingSecretsText } from "../secrets/missing-secrets.ts";
import { serverUrl } from "../server-url.ts";
import { printDiagnostics, proseLine, type Terminal } from "../terminal.ts";
import { askFront } from "./ask-front.ts";
import { healthRead, nodesRead, readAnswer, refusalsRead, strangersRead } from "./front-answers.ts";
import { nothingPublished } from "./nothing-published.ts";
import { shareText } from "./share-options.ts";

interface Options {
  readonly store?: string;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
}

/** `portolan status`: what is served, what is newest, and what lies between; and which Envoys are in trouble. */
export function registerStatus(program: Command, terminal: Terminal): void {
  program
    .command("status")
    .description(
      "Shows the served version, its pin and canary, and newer versions; with --server also the Envoys with problems.",
    )
    .addOption(storeOption())
    .option(
      "--server <url>",
      "also ask this front for nodes without a class and nodes that reject their configuration",
      serverUrl,
    )
    .option("--token-file <path>", "an operator's token for it")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examplesText(["status", "status --server http://127.0.0.1:8080", "status --store s3://mesh/prod --json"]),
    )
    .action(async ({ store: where, server, tokenFile, json }: Options) => {
      const { store, where: place } = await openPlaceThere(where, terminal.progress);
      const read = await readHead(store);
      if (read === undefined) throw await nothingPublished(store);
      if (server !== undefined) await checkFrontOf(server, store, read.head.publication);
      const nowMs = await headTimeNow(store, read, Date.now);
      const reader = createSnapshotReader(store);
      const status = await statusOf(reader, read.head, nowMs);
      const reported = await namedHere(place, await diagnosticsOfRoot(reader, status.newest));
      const errors = refusalsIn(reported);
      const recorded = await readAnalysis(store, status.newest);
      const analysis = recorded?.kind === "analyzed" ? await namedHere(place, recorded.messages) : undefined;
      const notAnalyzed = analysis === undefined ? whyNotAnalyzed(recorded) : undefined;
      const { release } = (await reader.root(status.served)).root;
      const warnings = clockWarnings(await clockAheadMs(store, Date.now), writerAheadMs(read));
      const sources = await collectedStates(store);
      const lookups = await lookupReports(store);
      const missing = await missingSecrets(store, reader, status.newest);
      // Whoever may read what is served need not be let to read the ledger.
      const garbage = await lastCollection(store).catch(() => undefined);
      const asked = server === undefined ? undefined : await troubleAt(server, tokenFile);
      const trouble = asked && { ...asked, refusals: await refusalLocations(store, reader)(asked.refusals) };
      if (json === true)
        return terminal.out(
          JSON.stringify(
            {
              ...status,
              release,
              sources,
              lookups,
              missingSecrets: missing,
              errors,
              analysis,
              notAnalyzed,
              garbage,
              warnings,
              ...trouble,
            },
            undefined,
            2,
          ),
        );
      const newest = await publicationOf(reader, read.head.publication, status.served);
      const hereMs = Date.now();
      const fails = sources.filter(({ state }) => whyBehind(state, hereMs) !== undefined);
      const sourceLine = ({ name, state }: CollectedState) =>
        row("source", `${name}  ${asOfText(state.asOfMs)}${failureText(state, hereMs)}`);
      // What somebody has to look at comes first.
      for (const line of trouble === undefined ? [] : troubleLines(trouble)) terminal.out(line);
      if (errors.length > 0) terminal.out(row("errors", refusalsText(errors)));
      const found = (analysis ?? []).filter(({ severity }) => severity !== "info");
      const grave = errorsOf(found).length;
      const counts = `${counted(grave, "error")} and ${counted(found.length - grave, "warning")} of the analysers`;
      if (found.length > 0) terminal.out(row("checks", counts));
      if (notAnalyzed !== undefined)
        terminal.out(
          row(
            "checks",
            `not analyzed: ${notAnalyzed}; run \`portolan analyze -f FOLDER\`, or \`--kube\` for a cluster`,
          ),
        );
      for (const one of fails) terminal.out(sourceLine(one));
      if (missing.length > 0) terminal.out(row("secrets", missingSecretsText(missing)));
      for (const line of failingLookups(lookups)) terminal.out(line);
      for (const line of statusLines(status, newest?.generation)) terminal.out(line);
      if (release !== undefined) terminal.out(row("as", `Istio ${release}`));
      for (const line of trouble === undefined ? [] : proxyLines(trouble)) terminal.out(line);
      for (const one of sources) if (!fails.includes(one)) terminal.out(sourceLine(one));
      for (const line of freshLookups(lookups)) terminal.out(line);
      if (garbage !== undefined) terminal.out(row("gc", garbageText(garbage)));
      printDiagnostics(terminal, errors.map(toldWithInstead), maxErrors);
      printDiagnostics(terminal, found, maxErrors, "portolan status --json");
      for (const warning of warnings) terminal.err(warning);
    });
}

/** Why there are no messages of the analysers. */
const whyNotAnalyzed = (record: AnalysisRecord | undefined): string =>
  record?.kind === "not-analyzed" ? proseLine(record.why) : "nothing is recorded of this version";

/** Of each kind of look-up: what its rows are called, how many are up to date, and what it means that nothing was ever found. */
const lookupRows: Readonly<Record<LookupKind, LookupRow>> = {
  jwks: {
    name: "keys",
    fresh: (count) => `of ${counted(count, "issuer")}, up to date`,
    never: "never read, every token is refused",
  },
  host: {
    name: "hosts",
    fresh: (count) => `addresses of ${counted(count, "host")}, up to date`,
    never: "no address known, it is left out of endpoints",
  },
  module: {
    name: "wasm",
    fresh: (count) => `${counted(count, "module")}, fetched`,
    never: "never fetched, its filters refuse everything or, failing open, let everything pass",
  },
};

interface LookupRow {
  readonly name: string;
  readonly fresh: (count: number) => string;
  readonly never: string;
}

const freshLookups = (lookups: readonly LookupReport[]): readonly string[] =>
  lookupKinds.flatMap((kind) => {
    const { length } = lookups.filter((one) => one.kind === kind && one.state === "fresh");
    return length === 0 ? [] : [row(lookupRows[kind].name, lookupRows[kind].fresh(length))];
  });

/** What cannot be looked up, and what that means. */
const failingLookups = (lookups: readonly LookupReport[]): readonly string[] =>
  lookups.flatMap(({ kind, of, state, fetchedAt, problem = "" }) => {
    if (state === "fresh") return [];
    const { name, never } = lookupRows[kind];
    const meaning = fetchedAt === undefined ? never : `as of ${fetchedAt}`;
    return [row(name, `${proseLine(of)}  ${meaning}: ${proseLine(problem)}`)];
  });

const garbageText = ({ at, deleted, doomed }: LastCollection): string =>
  `last collected ${at}: ${deleted} deleted, ${doomed} to be deleted later`;

function failureText(state: ShardState, nowMs: number): string {
  const shared = state.otherWriter === undefined ? "" : `, has two collectors: ${sharedText(state.otherWriter)}`;
  if (state.failure !== "") return `, cannot be read: ${state.failure}${shared}`;
  const why = whyBehind(state, nowMs);
  return why === undefined ? shared : `, may be behind: ${why}${shared}`;
}

const maxHeld = 20;
/** Errors that are named. */
const maxErrors = 20;
const short = (root: string) => root.slice(0, 12);

/**
 * One line for each fact, with the facts that lead to the next command last.
 *
 * @param generation that led to what is served, by which `history` and `rollback --to` know it; undefined where it was collected
 */
function statusLines(status: HeadStatus, generation: number | undefined): readonly string[] {
  const { served, steps, canary } = status;
  return [
    row("served", `${short(served)}${servedText(status, generation)}`),
    ...steps.map(({ root, at }) => row("then", `${short(root)}  from ${at}`)),
    ...(canary === undefined ? [] : [row("canary", `${short(canary.root)}  for ${shareText(canary)}`)]),
    ...pinLines(status),
    ...nextLines(status),
  ];
}

/** Since when, and of which generation, where endpoints alone have changed after configuration. */
function servedText({ since }: HeadStatus, generation: number | undefined): string {
  const now = generation === undefined || generation === since?.generation ? "" : `  generation ${generation}`;
  if (since === undefined) return now;
  return now === "" ? `  since ${entryText(since)}` : `${now}, configuration in force since ${entryText(since)}`;
}

function pinLines({ pin, expired, newest, held }: HeadStatus): readonly string[] {
  const said = pin ?? expired;
  if (said === undefined) return [];
  const { by, why, since: from, until } = said;
  const end = until === undefined ? "" : ` until ${until}`;
  const over = expired === undefined ? "" : "; that time is over";
  return [
    row("pinned", `by ${by || "somebody"} since ${from}${end}: ${why}${over}`),
    row("", heldText(said)),
    row("newest", short(newest)),
    ...held.slice(0, maxHeld).map((entry) => row("", `${short(entry.root)}  ${entryText(entry)}`)),
    ...(held.length > maxHeld ? [row("", `and ${held.length - maxHeld} more`)] : []),
  ];
}

/** What a pin holds. */
const heldText = ({ configuration }: Pin): string =>
  configuration === undefined
    ? "holds everything, services and endpoints too, as it was then"
    : "holds configuration; services and endpoints are followed";

/** While a canary runs, only its end lets go of what is pinned. */
function nextLines({ served, pin, expired, canary, newest }: HeadStatus): readonly string[] {
  if (canary !== undefined)
    return [
      `\`portolan diff SERVED ${short(canary.root)}\` shows what the canary changes, \`portolan promote\` gives it to all nodes, \`portolan abort\` ends it`,
    ];
  if ((pin ?? expired) === undefined || newest === served) return [];
  const first = expired === undefined ? "" : ", and so does the next compile of anything";
  return [`\`portolan diff SERVED NEWEST\` shows what differs, \`portolan unpin\` serves the newest version${first}`];
}

const row = (name: string, text: string) => `${name.padEnd(8)}${proseLine(text)}`;

function entryText({ at, generation, reason, by, why }: HistoryEntry): string {
  const who = by === undefined ? "" : ` by ${by}`;
  return `${at}  generation ${generation}, ${reason}${who}${why === undefined ? "" : `: ${why}`}`;
}

/** Publications that are looked through for the one that a front has. */
const searchedPublications = 1_000;

/**
 * What a front says of its Envoys belongs to the store that it reads.
 *
 * @throws PortolanError when that is another one, or holds nothing
 */
async function checkFrontOf(server: string, store: ObjectStore, newest: string): Promise<void> {
  const { publication } = readAnswer(server, await askFront(server, undefined)("/healthz"), healthRead);
  let left = searchedPublications;
  for await (const { hash } of readHistory(createSnapshotReader(store), newest)) {
    if (hash === publication) return;
    left -= 1;
    if (left === 0) break;
  }
  throw new PortolanError(`${server} serves another store than this one: name its own with --store`);
}

/** What a front knows of Envoys that do not get, or do not take, what they should have. */
interface Trouble {
  readonly strangers: readonly UnmatchedNode[];
  readonly refusals: readonly ExplainedRefusal[];
  /** undefined where a front keeps none, as at the edge. */
  readonly nodes: NodeStates | undefined;
}

/** What `GET /status/nodes` says. */
type NodeStates = Pick<NodeReport, "more" | "unread"> & { readonly nodes: readonly NodeState[] };

async function troubleAt(server: string, tokenFile: string | undefined): Promise<Trouble> {
  const ask = askFront(server, tokenFile);
  const asked = async <T>(path: string, form: z.ZodType, absent?: string): Promise<T> =>
    readAnswer<T>(server, await ask(path, absent), form);
  const { strangers } = await asked<Pick<Trouble, "strangers">>("/strangers", strangersRead);
  const { refusals } = await asked<Pick<Trouble, "refusals">>("/refusals", refusalsRead);
  const nodes = await asked<NodeStates | null>("/status/nodes", nodesRead, "null");
  return { strangers, refusals, nodes: nodes ?? undefined };
}

/** More proxies of one state are not named. */
const maxNamed = 10;

const namesText = (nodes: readonly NodeState[]): string => {
  const more = nodes.length > maxNamed ? ` and ${nodes.length - maxNamed} more` : "";
  return nodes
    .slice(0, maxNamed)
    .map(({ name }) => name)
    .join(", ")
    .concat(more);
};

/** Proxies that do not run what they should, and nodes without a class: what somebody has to look at first. */
function troubleLines({ strangers, refusals, nodes }: Trouble): readonly string[] {
  const known = nodes?.nodes ?? [];
  const away = (wanted: "stale" | "gone") => known.filter(({ presence }) => presence === wanted);
  const behind = known.filter(({ presence, state }) => presence === "connected" && state === "stale");
  const listed = [
    ["stale", behind, "behind what is in force"],
    ["silent", away("stale"), "missed three poll intervals, or their stream ended"],
    ["gone", away("gone"), "not heard any more"],
  ] as const;
  const told = [
    ...refusals.map((one) => ({ title: "refused", lines: refusalLines(one) })),
    ...listed.flatMap(([title, of, why]) =>
      of.length === 0 ? [] : [{ title, lines: [`${counted(of.length, "proxy", "proxies")} ${why}: ${namesText(of)}`] }],
    ),
    ...strangers.map((one) => ({ title: one.kind, lines: unmatchedLines(one) })),
  ];
  return told.flatMap(({ title, lines }) => lines.map((line, i) => row(i === 0 ? title : "", line)));
}

/** How many proxies there are, of which state, and how they are told. */
function proxyLines({ strangers, refusals, nodes }: Trouble): readonly string[] {
  const isWell = strangers.length + refusals.length === 0;
  if (nodes === undefined)
    return isWell ? [row("proxies", "this front keeps none; those that ask have a class, and take what they get")] : [];
  if (nodes.nodes.length === 0) return [row("proxies", "none has accepted anything of this front yet")];
  const counts = countedNodes(nodes.nodes);
  const states = nodeConditions.flatMap((state) => (counts[state] === 0 ? [] : [`${counts[state]} ${state}`]));
  const by = (wanted: NodeTransport) =>
    nodes.nodes.filter(({ resources }) => resources.some(({ transport }) => transport === wanted)).length;
  const ways = [
    [by("poll"), "by polls"],
    [by("stream"), "by streams"],
    [by("delta"), "by deltas"],
  ] as const;
  const told = ways.flatMap(([count, way]) => (count === 0 ? [] : [`${count} ${way}`]));
  const all = counted(nodes.nodes.length + nodes.more, "proxy", "proxies");
  return [
    row("proxies", `${all}: ${states.join(", ")} (${told.join(", ")})`),
    ...(nodes.unread === undefined ? [] : [row("", unreadRecords(nodes.unread))]),
  ];
}
