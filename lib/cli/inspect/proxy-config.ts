import { type Command, InvalidArgumentError, Option } from "commander";
import { dump } from "js-yaml";
import { resourceTypes, type ShapeName, shapes } from "../../snapshot/resource-type.ts";
import type { StoredResource } from "../../xds/explain/explain-resource.ts";
import { printTable } from "../config/config-print.ts";
import { examplesText } from "../examples.ts";
import { storeOption } from "../named-store.ts";
import { counted, wholeNumber } from "../numbers.ts";
import { jsonOption } from "../output-option.ts";
import { urlFor } from "../server-url.ts";
import { addFrontOptions } from "../snapshots/ask-front.ts";
import { rootNames } from "../snapshots/root-named.ts";
import type { Terminal } from "../terminal.ts";
import { type RunningConfig, type RunningSecret, runningConfig } from "./admin-config.ts";
import { nodeSource } from "./node-source.ts";
import { failOnUnread, type NodeSource, tellUnread } from "./proxy-resources.ts";
import { redacted } from "./redact.ts";
import { columns, isAskedFor, type RowFilter, rowsOf, type TableType, tableTypes } from "./resource-rows.ts";
import { type RunningDifference, runningDifferences } from "./running-diff.ts";

interface Options extends RowFilter {
  readonly store?: string;
  readonly dir?: string;
  readonly root: string;
  readonly shape?: ShapeName;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly admin?: string;
  readonly diff?: boolean;
  readonly output: "table" | "json" | "yaml";
}

const types = [...tableTypes, "secrets", "all"] as const;
type AskedType = (typeof types)[number];

/** `portolan proxy-config TYPE NODE`: what a proxy has, as tables; compiled, or as it runs; and the difference. */
export function registerProxyConfig(program: Command, terminal: Terminal): void {
  const command = program
    .command("proxy-config <type> [node]")
    .alias("pc")
    .description(
      "Shows a proxy's clusters, listeners, routes, endpoints, secrets or all: as compiled, as served, as running, or the difference.",
    )
    .addOption(storeOption())
    .option("--dir <folder>", "compile this folder instead of reading a store");
  addFrontOptions(command, "read what this front serves the node, instead of a store")
    .option("--root <name>", "which root", "SERVED")
    .addOption(
      new Option(
        "--shape <name>",
        "which of a class's answers (what the Envoy of --admin asks for, else stream)",
      ).choices([...shapes]),
    )
    .option("--admin <url>", "read this running Envoy's admin port instead", urlFor("--admin"))
    .option("--diff", "with --admin: the difference between the compiled or served configuration and the running one")
    .option("--fqdn <host>", "of this service only")
    .option("--port <number>", "of this port only", wholeNumber(1, 65_535))
    .addOption(new Option("--direction <name>", "of this direction only").choices(["inbound", "outbound"]))
    .option("--subset <name>", "of this subset only")
    .option("--name <part>", "only resources whose name contains this")
    .option("--address <ip>", "listeners and endpoints of this address")
    .addOption(new Option("-o, --output <form>", "form").choices(["table", "json", "yaml"]).default("table"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nTypes: ${types.join(", ")}. ${rootNames}\n${examplesText([
        "proxy-config clusters storefront-1.bookshop --fqdn reviews.bookshop.svc.cluster.local",
        "proxy-config routes istio-ingressgateway-1.bookshop --dir samples/bookshop -o yaml",
        "proxy-config all --admin http://127.0.0.1:15000",
        "proxy-config all storefront-1.bookshop --admin http://127.0.0.1:15000 --diff",
        "proxy-config listeners storefront-1.bookshop --server https://front.example.com --token-file token",
      ])}`,
    )
    .action(async (written: string, node: string | undefined, options: Options) => {
      const type = typeNamed(written);
      const { admin } = options;
      if (options.diff === true && (admin === undefined || node === undefined))
        throw new InvalidArgumentError("--diff goes with a node and --admin");
      if (admin === undefined && node === undefined)
        throw new InvalidArgumentError("name a node, or an Envoy with --admin");
      // Secrets are named by the others.
      const wanted = resourceTypes.filter((one) => type === one);
      const running = admin === undefined ? undefined : await runningConfig(admin);
      const compiled =
        node === undefined || (running !== undefined && options.diff !== true)
          ? undefined
          : await nodeSource(
              { ...options, shape: options.shape ?? running?.shape ?? "stream" },
              node,
              terminal,
              wanted.length === 0 ? undefined : wanted,
            );
      const sources = [
        { ...compiled, from: options.server },
        { ...running, from: admin },
      ];
      for (const { unread = [] } of sources) tellUnread(unread, terminal);
      show(terminal, { ...options, type }, compiled, running);
      for (const { unread = [], from } of sources) failOnUnread(unread, from);
    });
}

/** Writes what is asked for of the one that is there; of both, what differs. */
function show(
  terminal: Terminal,
  options: Options & { readonly type: AskedType },
  compiled: NodeSource | undefined,
  running: RunningConfig | undefined,
): void {
  const { type } = options;
  const asked = (list: readonly StoredResource[]) =>
    list.filter((one) => (type === "all" || one.type === type) && isAskedFor(one, options));
  const form = options.output;
  if (options.diff === true && compiled !== undefined && running !== undefined) {
    const differences = runningDifferences(asked(compiled.resources), asked(running.resources));
    printDifferences(terminal, differences, form, compiled.title);
    return;
  }
  const resources = asked(compiled?.resources ?? running?.resources ?? []);
  const allSecrets = running?.secrets ?? secretsNamedIn(compiled?.resources ?? []);
  const secrets =
    type !== "secrets" && type !== "all"
      ? []
      : allSecrets.filter(({ name }) => options.name === undefined || name.includes(options.name));
  if (form === "table") {
    if (compiled !== undefined) terminal.err(compiled.title);
    printTables(terminal, type, resources, secrets);
  } else printForm(terminal, form, { resources: resources.map(shown), secrets });
}

function typeNamed(written: string): AskedType {
  const found = types.find((type) => type === written || type === `${written}s`);
  if (found === undefined)
    throw new InvalidArgumentError(`${JSON.stringify(written.slice(0, 50))} is none of ${types.join(", ")}`);
  return found;
}

const shown = ({ type, name, version, from, text }: StoredResource) => ({
  type,
  name,
  version,
  from,
  resource: redacted(JSON.parse(text)),
});

function printForm(terminal: Terminal, form: "json" | "yaml", value: object): void {
  terminal.out(
    form === "json" ? JSON.stringify(value, undefined, 2) : dump(value, { noRefs: true, lineWidth: 120 }).trimEnd(),
  );
}

function printTables(
  terminal: Terminal,
  type: AskedType,
  resources: readonly StoredResource[],
  secrets: readonly RunningSecret[],
): void {
  const tables: readonly TableType[] = type === "all" ? tableTypes : tableTypes.filter((one) => one === type);
  for (const table of tables) {
    const rows = resources.filter((one) => one.type === table).flatMap(rowsOf);
    if (type === "all" && rows.length === 0) continue;
    printTable(terminal, [columns[table], ...rows]);
    if (type === "all") terminal.out("");
  }
  if (type !== "secrets" && (type !== "all" || secrets.length === 0)) return;
  printTable(terminal, [
    ["NAME", "TYPE", "VERSION", "SINCE"],
    ...secrets.map(({ name, kind, version, since }) => [name, kind, version || "-", since || "-"]),
  ]);
}

/** What listeners and clusters fetch over SDS, by name. */
function secretsNamedIn(resources: readonly StoredResource[]): readonly RunningSecret[] {
  const found = new Map<string, RunningSecret>();
  for (const { text } of resources) {
    for (const [, list = "", body = ""] of text.matchAll(
      /"(tlsCertificateSdsSecretConfigs|validationContextSdsSecretConfig)":[[{]([^}\]]*)[}\]]/g,
    )) {
      const kind = list.startsWith("tls") ? "certificate" : "authorities";
      for (const [, name = ""] of body.matchAll(/"name":"([^"]+)"/g))
        found.set(name, { name, kind, version: "", since: "" });
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const maxPlaces = 8;

function printDifferences(
  terminal: Terminal,
  differences: readonly RunningDifference[],
  form: Options["output"],
  title: string,
): void {
  if (form !== "table") printForm(terminal, form, { of: title, differences });
  else {
    terminal.out(terminal.colours.dim(`${title}: - compiled, + running`));
    for (const { type, name, state, places } of differences) {
      terminal.out(`${state === "differs" ? "~" : state === "only running" ? "+" : "-"} ${type} ${name}`);
      for (const { path, before, after } of places.slice(0, maxPlaces))
        terminal.out(`    ${path}: ${text(before)} → ${text(after)}`);
      if (places.length > maxPlaces) terminal.out(`    and ${places.length - maxPlaces} more places`);
    }
    terminal.out(
      differences.length === 0
        ? "the running configuration equals the compiled one"
        : counted(differences.length, "difference"),
    );
  }
}

const text = (value: unknown): string => (value === undefined ? "(none)" : JSON.stringify(value).slice(0, 100));
