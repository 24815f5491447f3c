import { InvalidArgumentError, Option } from "commander";
import { dump } from "js-yaml";
import { type AnalyzeOptions, analyzers, noAnalyzer, originText } from "../../analysis/analyze.ts";
import { messageTypes } from "../../analysis/analyzer.ts";
import { type Diagnostic, keyText, type Origin, PortolanError } from "../../base/diagnostic.ts";
import { pathText } from "../../base/path-text.ts";
import type { LoadedDirectory, SourceFile } from "../../config/folder/directory.ts";
import { kubeOption } from "../kube/kube-connection.ts";
import { clusterContent } from "../kube/kube-read.ts";
import { counted } from "../numbers.ts";
import { jsonOption } from "../output-option.ts";
import type { Register, Terminal } from "../terminal.ts";
import { wholeAnalysis } from "./analysis-report.ts";
import { addInputArguments, type InputOptions, inputFiles, read } from "./config-input.ts";
import { printTable } from "./config-print.ts";
import { atFields } from "./field-lines.ts";

interface Options extends InputOptions {
  readonly list?: boolean;
  readonly kube?: string;
  readonly analyzer?: readonly string[];
  readonly suppress?: readonly string[];
  readonly failureThreshold: Level;
  readonly outputThreshold: Level;
  readonly output: (typeof formats)[number];
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
const analyzer = (value: string, before: readonly string[] = []): readonly string[] => {
  if (!analyzers.some(({ name }) => name === value)) throw new InvalidArgumentError(noAnalyzer(value));
  return [...before, value];
};
const levelNames = ["Error", "Warning", "Info"] as const;
type Level = (typeof levelNames)[number];
const rank = (name: string): number => levelNames.findIndex((known) => known.toLowerCase() === name.toLowerCase());
const formats = ["log", "table", "json", "yaml", "annotations"] as const;

/** `portolan analyze -f …`: what is valid by itself, and does not fit together. */
export const registerAnalyze: Register = (program, terminal) => {
  const command = program
    .command("analyze")
    .description("Analyzes configuration for conflicts and missing references.");
  addInputArguments(command, "show messages of this namespace only; objects of files that name none are in it")
    .addOption(kubeOption("analyze a live Kubernetes cluster, with the named files applied on top"))
    .addOption(new Option("-A, --all-namespaces", "all namespaces; this is the default").conflicts("namespace"))
    .option("-R, --recursive", "search folders recursively; this is the default")
    .option("-L, --list", "list the analysers")
    .option("--analyzer <name>", "run only these, by the names of --list; may be repeated", analyzer)
    .option("-S, --suppress <message>", "CODE=Kind name.namespace, with * for any text; may be repeated", collect)
    .option("--failure-threshold <level>", "exit code 1 from this level on: Error, Warning, Info", level, "Error")
    .option("--output-threshold <level>", "show messages from this level on", level, "Info")
    .addOption(new Option("-o, --output <format>", "how to print").choices(formats).default("log"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      '\nExamples:\n  portolan analyze samples/bookshop\n  portolan analyze -f mesh/ -o json --failure-threshold Warning\n  portolan analyze --kube=prod -n shop -S "IST0102=Namespace *"\n  portolan analyze --list',
    )
    .action(async (paths: readonly string[], options: Options) => {
      if (options.list === true) {
        printTable(
          terminal,
          analyzers.map(({ name, about }) => [name, about]),
        );
        return;
      }
      const names = [...paths, ...(options.filename ?? [])];
      const files = options.kube !== undefined && names.length === 0 ? [] : await inputFiles(names);
      const loaded = await inputOf(files, options);
      const chosen: AnalyzeOptions = {
        ...(options.analyzer === undefined ? {} : { only: options.analyzer }),
        ...(options.suppress === undefined ? {} : { suppress: options.suppress }),
      };
      const isHere = inNamespace(options.namespace);
      const messages = atFields(wholeAnalysis(loaded, chosen).filter(isHere), files);
      const shown = messages.filter(({ severity }) => rank(severity) <= rank(options.outputThreshold));
      print(terminal, shown, options.output);
      // The threshold looks at all messages, also those that are not shown.
      const failing = messages.filter(({ severity }) => rank(severity) <= rank(options.failureThreshold));
      if (failing.length > 0)
        throw new PortolanError(`${counted(failing.length, "message")} at ${options.failureThreshold} or worse`);
    });
};

async function inputOf(files: readonly SourceFile[], { namespace, kube }: Options): Promise<LoadedDirectory> {
  if (kube === undefined) return read(files, namespace);
  const cluster = await clusterContent(kube);
  return files.length === 0 ? cluster : laidOver(cluster, read(files, namespace));
}

/** What a cluster would hold if files were applied to it: an object of theirs takes the place of the cluster's. */
function laidOver(cluster: LoadedDirectory, files: LoadedDirectory): LoadedDirectory {
  const keys = new Set([...files.configs, ...files.objects].map(({ origin }) => keyText(origin.key)));
  const stays = ({ origin }: { readonly origin: Origin }) => !keys.has(keyText(origin.key));
  return {
    ...cluster,
    configs: [...cluster.configs.filter(stays), ...files.configs],
    objects: [...cluster.objects.filter(stays), ...files.objects],
    diagnostics: [...cluster.diagnostics.filter(stays), ...files.diagnostics],
  };
}

/** With `-n` messages about objects of other namespaces are left out, as istioctl does; those of no namespace stay. */
function inNamespace(namespace: string | undefined): (message: Diagnostic) => boolean {
  return ({ origin: { key } }) => {
    if (namespace === undefined || key.kind === "") return true;
    return (key.namespace === "" && key.kind !== "Namespace") || (key.namespace || key.name) === namespace;
  };
}

/** A level as the command line writes it, in any case. */
function level(name: string): Level {
  const found = levelNames.find((known) => known.toLowerCase() === name.toLowerCase());
  if (found === undefined) throw new InvalidArgumentError("known are Error, Warning and Info");
  return found;
}

/** One message as programs read it, in istioctl's words. */
function record(message: Diagnostic) {
  const { code, severity, origin, path, hint } = message;
  return {
    code,
    level: severity.charAt(0).toUpperCase() + severity.slice(1),
    origin: originText(message),
    reference: origin.line > 0 ? `${origin.file}:${origin.line}` : origin.file,
    path: pathText(path),
    documentationUrl: documentationOf(code),
    message: message.message,
    hint,
  };
}

function documentationOf(code: string): string {
  if (code === "secret-in-source") return "docs/diagnostics/reading.md#secret-in-source";
  if (code in messageTypes && !code.startsWith("IST")) return `docs/diagnostics/analysis.md#${code}`;
  return code.startsWith("IST")
    ? `https://istio.io/latest/docs/reference/config/analysis/${code.toLowerCase()}/`
    : "https://gateway-api.sigs.k8s.io/reference/spec/";
}

function print(terminal: Terminal, messages: readonly Diagnostic[], format: Options["output"]): void {
  switch (format) {
    case "json":
      terminal.out(JSON.stringify(messages.map(record), undefined, 2));
      return;
    case "yaml":
      terminal.out(dump(messages.map(record)));
      return;
    case "table":
      printTable(terminal, [
        ["LEVEL", "CODE", "ORIGIN", "PLACE", "MESSAGE"],
        ...messages
          .map(record)
          .map((one) => [one.level, one.code, one.origin, one.reference, `${one.path} ${one.message}`.trim()]),
      ]);
      return;
    case "annotations":
      for (const message of messages) (terminal.command ?? terminal.out)(annotation(message));
      return;
    case "log":
      for (const one of messages.map(record)) {
        terminal.out(
          `${one.level} [${one.code}] (${`${one.origin} ${one.reference}`.trim()}) ${`${one.path} ${one.message}`.trim()}`,
        );
        if (one.hint !== "") terminal.out(`  hint: ${one.hint}`);
      }
      if (messages.length === 0) terminal.out("No issues found.");
      return;
  }
}

/** A line that GitHub, and who reads the same form, shows beside the code. */
function annotation({ code, severity, origin, path, message, hint }: Diagnostic): string {
  const command = severity === "info" ? "notice" : severity;
  const [name] = Object.entries(messageTypes).find(([known]) => known === code)?.[1] ?? [code];
  const escape = (text: string) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (text: string) => escape(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const line = origin.line > 0 ? `,line=${origin.line}` : "";
  const place = `file=${property(origin.file)}${line},title=${property(`${code} ${name}`)}`;
  const remedy = hint === "" ? "" : `\nhint: ${hint}`;
  return `::${command} ${place}::${escape(`${pathText(path)} ${message}`.trim() + remedy)}`;
}
