import { PortolanError } from "../../base/diagnostic.ts";
import type { LookupKind } from "../../resolve/lookup-name.ts";
import { type LookupReport, lookupReports } from "../../resolve/lookup-reports.ts";
import { printTable } from "../config/config-print.ts";
import { namedHere } from "../config/located-messages.ts";
import { tellRecompiled } from "../dev/recompiled-text.ts";
import { examplesText } from "../examples.ts";
import { openPlaceThere, storeOption } from "../named-store.ts";
import { counted } from "../numbers.ts";
import { noProgress } from "../progress.ts";
import { createRecordingRecompiler } from "../recording-recompiler.ts";
import { keyringOption, trustOf } from "../secrets/keyring.ts";
import { proseLine, type Register } from "../terminal.ts";
import { resolverOf } from "./resolver-of.ts";

interface Options {
  readonly store?: string;
  readonly keyring: string;
  readonly json?: boolean;
}

/** `portolan resolve`: looks up what served configuration wants to know of a network, once. */
export const registerResolve: Register = (program, terminal) => {
  program
    .command("resolve")
    .description("Fetches JWKS, Wasm modules and addresses of network gateways, and publishes changes.")
    .addOption(storeOption())
    .addOption(keyringOption())
    .option("--json", "as JSON")
    .addHelpText("after", examplesText(["resolve", "resolve --store s3://mesh/prod --json"]))
    .action(async ({ store: where, keyring, json }: Options) => {
      const { store, where: place } = await openPlaceThere(where, terminal.progress);
      const trust = await trustOf(keyring);
      const { hasChanged } = await resolverOf(store, trust)({ all: true });
      const reports = await lookupReports(store);
      const { observer } = terminal.progress ?? noProgress;
      const told = hasChanged
        ? await (await createRecordingRecompiler({ store, publisher: trust, observer }, terminal.err))({
            by: "resolver",
          })
        : undefined;
      const recompiled = told && { ...told, diagnostics: await namedHere(place, told.diagnostics) };
      if (json === true) terminal.out(JSON.stringify({ lookups: reports, recompiled }, undefined, 2));
      else {
        printLookups(terminal, reports);
        if (recompiled !== undefined) tellRecompiled(terminal, recompiled, undefined);
      }
      const failing = reports.filter(({ state }) => state !== "fresh").length;
      if (failing > 0) throw new PortolanError(`${counted(failing, "look-up")} failed`);
    });
};

/** What is in force of each kind. */
const foundTexts: Readonly<Record<LookupKind, (found: Partial<LookupReport>) => string>> = {
  jwks: ({ keys = 0 }) => counted(keys, "key"),
  host: ({ addresses = [] }) => addresses.join(" "),
  module: ({ sha256 = "" }) => sha256.slice(0, 12),
};

function printLookups(terminal: Parameters<Register>[1], reports: readonly LookupReport[]): void {
  if (reports.length === 0) {
    terminal.out(
      "Nothing has to be looked up: no RequestAuthentication names keys, no extension a module, and no network gateway a host.",
    );
    return;
  }
  printTable(terminal, [
    ["KIND", "OF", "STATE", "FOUND", "FETCHED"],
    ...reports.map(({ kind, of, state, fetchedAt = "never", ...found }) => [
      kind,
      proseLine(of),
      state,
      foundTexts[kind](found),
      fetchedAt,
    ]),
  ]);
  for (const { of, problem } of reports)
    if (problem !== undefined) terminal.err(`${proseLine(of)}: ${proseLine(problem)}`);
}
