import { type Command, InvalidArgumentError } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { parseDuration } from "../../base/duration.ts";
import { usualHoldMs } from "../../config/setting-values.ts";
import { examplesText } from "../examples.ts";
import { textOfFile } from "../named-file.ts";
import { wholeNumber } from "../numbers.ts";
import type { Terminal } from "../terminal.ts";
import { lambdaMonth, listPrices, machinesMonth, type Prices, workersMonth } from "./prices.ts";
import { type Fleet, type Use, useOf, usualFleet } from "./use.ts";

interface Options {
  readonly proxies: number;
  readonly loops: number;
  readonly delay: number;
  readonly hold: number;
  readonly fronts: number;
  readonly changes: number;
  readonly answerBytes: number;
  readonly pollBytes: number;
  readonly services: number;
  readonly logged: number;
  readonly prices?: string;
  readonly json?: boolean;
}

/** One way to serve a fleet, and what a month of it comes to. */
interface Way {
  readonly way: string;
  readonly use: Use;
  readonly dollars: number;
}

export function registerCost(program: Command, terminal: Terminal): void {
  program
    .command("cost")
    .description(
      "Estimates the monthly requests of a fleet of proxies and their price on each platform (docs/cost.md).",
    )
    .requiredOption("--proxies <count>", "proxies that poll", wholeNumber(1))
    .option("--loops <count>", "open polls of a proxy", wholeNumber(1), usualFleet.loops)
    .option("--delay <duration>", "the bootstraps' refresh_delay", milliseconds, usualFleet.delayMs)
    .option("--hold <duration>", "how long Workers and Node.js hold a poll", milliseconds, usualHoldMs)
    .option(
      "--fronts <count>",
      "concurrent processes, isolates or execution environments",
      wholeNumber(1),
      usualFleet.fronts,
    )
    .option("--changes <count>", "publishes a month", wholeNumber(0), usualFleet.changes)
    .option("--answer-bytes <bytes>", "size of a response with changes", wholeNumber(0), usualFleet.answerBytes)
    .option("--poll-bytes <bytes>", "size of a poll request", wholeNumber(0), usualFleet.pollBytes)
    .option(
      "--services <count>",
      "services of the mesh; they determine the writes of the first push",
      wholeNumber(1),
      usualFleet.services,
    )
    .option(
      "--logged <share>",
      "share of requests that the platform logs by itself, from 0 to 1; as deployed it logs none",
      share,
      usualFleet.loggedShare,
    )
    .option("--prices <file>", 'other prices, as JSON: {"asOf": "2027-01", "aws": {"gbOut": 0.08}}')
    .option("--json", "as JSON, with the prices")
    .addHelpText(
      "after",
      examplesText([
        "cost --proxies 1000",
        "cost --proxies 1000 --logged 1",
        "cost --proxies 20000 --delay 10s --changes 300 --json",
      ]),
    )
    .action(async ({ prices: file, json = false, ...options }: Options) => {
      const prices = file === undefined ? listPrices : withPrices(await readPrices(file));
      const ways = waysOf(options, prices);
      if (json) return terminal.out(JSON.stringify({ prices, ways }));
      for (const line of linesOf(ways, prices)) terminal.out(line);
    });
}

function waysOf(
  { delay: delayMs, hold: holdMs, ...options }: Omit<Options, "prices" | "json">,
  prices: Prices,
): readonly Way[] {
  const { fronts, logged: loggedShare, ...fleet } = options;
  const atOnce: Fleet = { ...usualFleet, ...fleet, fronts, loggedShare, delayMs, holdMs: 0 };
  const [polled, held] = [useOf(atOnce), useOf({ ...atOnce, holdMs })];
  // On a machine of one's own no platform logs requests.
  const onMachines = useOf({ ...atOnce, holdMs, loggedShare: 0 });
  const way = (name: string, use: Use, dollars: number): Way => ({ way: name, use, dollars });
  return [
    way("Cloudflare, answered at once", polled, workersMonth(polled, prices)),
    way("Cloudflare, held", held, workersMonth(held, prices)),
    way("AWS Lambda, answered at once", polled, lambdaMonth(polled, prices)),
    way("AWS Lambda, if it held", held, lambdaMonth(held, prices)),
    way("Node on machines and S3, held", onMachines, machinesMonth(onMachines, { fronts }, prices)),
  ];
}

function linesOf(ways: readonly Way[], { asOf }: Prices): readonly string[] {
  const count = (value: number) => `${(value / 1e6).toFixed(1)} M`;
  const rows = ways.map(({ way, use, dollars }) => [
    way,
    count(use.requests),
    count(use.storeReads),
    count(use.storeWrites),
    count(use.logLines),
    `${(use.bytesIn / 1e9).toFixed(1)} GB`,
    `${(use.bytesOut / 1e9).toFixed(1)} GB`,
    `$${dollars.toFixed(dollars < 100 ? 2 : 0)}`,
  ]);
  const [first] = ways;
  const all = [["a month", "requests", "reads", "writes", "log lines", "in", "out", "cost"], ...rows];
  const widths = all[0]?.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0))) ?? [];
  return [
    ...all.map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    ),
    ...(first === undefined
      ? []
      : [
          `writes are those of a first push, ${Math.round(first.use.firstWrites)} objects, and of every change after it`,
        ]),
    `by the price lists of ${asOf}, without taxes and free tiers of AWS; --prices takes others`,
  ];
}

/** @throws PortolanError for anything but numbers under the names of `Prices` */
function withPrices(text: string): Prices {
  const given: Partial<Prices> = JSON.parse(text);
  const known = (name: "cloudflare" | "aws") => {
    const odd = Object.entries(given[name] ?? {}).find(
      ([key, value]) => !(key in listPrices[name]) || typeof value !== "number",
    );
    if (odd !== undefined) throw new PortolanError(`${name}.${odd[0]} is no price that is counted with`);
  };
  known("cloudflare");
  known("aws");
  return {
    asOf: given.asOf ?? listPrices.asOf,
    cloudflare: { ...listPrices.cloudflare, ...given.cloudflare },
    aws: { ...listPrices.aws, ...given.aws },
  };
}

async function readPrices(path: string): Promise<string> {
  const text = await textOfFile(path);
  try {
    JSON.parse(text);
    return text;
  } catch (cause) {
    throw new PortolanError(`${path} holds no prices in JSON`, [], cause);
  }
}

function share(text: string): number {
  const value = Number(text);
  if (/^\d(?:\.\d{1,6})?$/.test(text) && value <= 1) return value;
  throw new InvalidArgumentError("a share from 0 to 1, like 0.01");
}

function milliseconds(text: string): number {
  const nanos = parseDuration(text);
  if (nanos === undefined || nanos < 0n) throw new InvalidArgumentError("a duration, like 500ms or 25s");
  return Number(nanos / 1_000_000n);
}
