import type { Command } from "commander";
import type { z } from "zod";
import type { ShardState } from "../../compile/collected/shard-state.ts";
import { collectedStates } from "../../compile/collected/source-ages.ts";
import { diagnosticsOfRoot } from "../../compile/root-diagnostics.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import type { ExplainedRefusal } from "../../front/nodes/explain-refusal.ts";
import type { NodeReport, NodeTransport } from "../../front/nodes/node-watch.ts";
import type { Stranger } from "../../front/nodes/strangers.ts";
import { clockAheadMs, clockWarnings, headTimeNow, writerAheadMs } from "../../snapshot/head/clock.ts";
import { readHead } from "../../snapshot/head/head.ts";
import { type HeadStatus, statusOf } from "../../snapshot/head/head-status.ts";
import { type HistoryEntry, publicationOf, readHistory } from "../../snapshot/head/history.ts";
import { refusalsIn, refusalsText, toldWithInstead } from "../../snapshot/refusals.ts";
import type { Pin } from "../../snapshot/root.ts";
import { createSnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { type LastCollection, lastCollection } from "../../snapshot/upkeep/gc-ledger.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { examplesText } from "../examples.ts";
import { unreadRecords } from "../inspect/unread-records.ts";
import { openThere, storeOption } from "../named-store.ts";
import { refusalLines, strangerLines } from "../proxy/node-trouble.ts";
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
      "Shows what is served, what holds it, and what was published since then; with --server, which Envoys are in trouble.",
    )
    .addOption(storeOption())
    .option(
      "--server <url>",
      "ask this front, too: nodes without a class, and nodes that refuse what they are served",
      serverUrl,
    )
    .option("--token-file <path>", "an operator's token for it")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examplesText(["status", "status --server http://127.0.0.1:8080", "status --store s3://mesh/prod --json"]),
    )
    .action(async ({ store: where, server, tokenFile, json }: Options) => {
      const store = await openThere(where, terminal.progress);
      const read = await readHead(store);
      if (read === undefined) throw await nothingPublished(store);
      if (server !== undefined) await checkFrontOf(server, store, read.head.publication);
      const nowMs = await headTimeNow(store, read, Date.now);
      const reader = createSnapshotReader(store);
      const status = await statusOf(reader, read.head, nowMs);
      const errors = refusalsIn(await diagnosticsOfRoot(reader, status.newest));
      const warnings = clockWarnings(await clockAheadMs(store, Date.now), writerAheadMs(read));
      const sources = await collectedStates(store);
      // Whoever may read what is served need not be let to read the ledger.
      const garbage = await lastCollection(store).catch(() => undefined);
      const trouble = server === undefined ? undefined : await troubleAt(server, tokenFile);
      if (json === true)
        return terminal.out(
          JSON.stringify({ ...status, sources, errors, garbage, warnings, ...trouble }, undefined, 2),
        );
      const newest = await publicationOf(reader, read.head.publication, status.served);
      for (const line of statusLines(status, newest?.generation)) terminal.out(line);
      for (const { name, state } of sources)
        terminal.out(row("source", `${name}  as of ${new Date(state.asOfMs).toISOString()}${failureText(state)}`));
      if (garbage !== undefined) terminal.out(row("gc", garbageText(garbage)));
      if (errors.length > 0) terminal.out(row("errors", refusalsText(errors)));
      for (const line of trouble === undefined ? [] : troubleLines(trouble)) terminal.out(line);
      printDiagnostics(terminal, errors.map(toldWithInstead), maxErrors);
      for (const warning of warnings) terminal.err(warning);
    });
}

const garbageText = ({ at, deleted, doomed }: LastCollection): string =>
  `last collected ${at}: ${deleted} deleted, ${doomed} to be deleted later`;

const failureText = ({ failure }: ShardState): string => (failure === "" ? "" : `, cannot be read: ${failure}`);

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
      `\`portolan diff SERVED ${short(canary.root)}\` shows what the canary changes, \`portolan promote\` gives it to everybody, \`portolan abort\` ends it`,
    ];
  if ((pin ?? expired) === undefined || newest === served) return [];
  const first = expired === undefined ? "" : ", and so does the next compile of anything";
  return [`\`portolan diff SERVED NEWEST\` shows what lies between, \`portolan unpin\` leads there${first}`];
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
  readonly strangers: readonly Stranger[];
  readonly refusals: readonly ExplainedRefusal[];
  /** undefined where a front keeps none, as at the edge. */
  readonly nodes: NodeReport | undefined;
}

async function troubleAt(server: string, tokenFile: string | undefined): Promise<Trouble> {
  const ask = askFront(server, tokenFile);
  const asked = async <T>(path: string, form: z.ZodType, absent?: string): Promise<T> =>
    readAnswer<T>(server, await ask(path, absent), form);
  const { strangers } = await asked<Pick<Trouble, "strangers">>("/strangers", strangersRead);
  const { refusals } = await asked<Pick<Trouble, "refusals">>("/refusals", refusalsRead);
  const nodes = await asked<NodeReport | null>("/status/nodes", nodesRead, "null");
  return { strangers, refusals, nodes: nodes ?? undefined };
}

/** How many nodes there are, how they are told, and which of them keep an older version than they were served. */
function nodeLines({ nodes, more, unread }: NodeReport): readonly string[] {
  const by = (wanted: NodeTransport) =>
    nodes.filter(({ resources }) => resources.some(({ transport }) => transport === wanted)).length;
  const ways = [
    [by("poll"), "by polls"],
    [by("stream"), "by streams"],
    [by("delta"), "by streams of deltas"],
  ] as const;
  const told = ways.flatMap(([count, way]) => (count === 0 ? [] : [`${count} ${way}`]));
  const refusing = nodes.filter(({ resources }) => resources.some(({ refused }) => refused !== undefined)).length;
  const kept = refusing === 0 ? "" : `; ${refusing} keep a version that was replaced`;
  return [
    ...(nodes.length === 0 ? [] : [row("told", `${nodes.length + more} nodes: ${told.join(", ")}${kept}`)]),
    ...(unread === undefined ? [] : [row("", unreadRecords(unread))]),
  ];
}

function troubleLines({ strangers, refusals, nodes }: Trouble): readonly string[] {
  return [...(nodes === undefined ? [] : nodeLines(nodes)), ...complaints({ strangers, refusals })];
}

function complaints({ strangers, refusals }: Pick<Trouble, "strangers" | "refusals">): readonly string[] {
  if (strangers.length + refusals.length === 0)
    return [row("nodes", "all that ask have a class, and take what they get")];
  const told = [
    ...strangers.map((one) => ({ title: one.kind, lines: strangerLines(one) })),
    ...refusals.map((one) => ({ title: "refused", lines: refusalLines(one, new Map()) })),
  ];
  return told.flatMap(({ title, lines }) => lines.map((line, i) => row(i === 0 ? title : "", line)));
}
