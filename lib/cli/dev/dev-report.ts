import { causeText } from "../../base/cause-text.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import type { FilesCompiled } from "../../compile/compile-files.ts";
import type { Recompiled } from "../../compile/recompile/recompiled.ts";
import type { ExplainedRefusal } from "../../front/nodes/explain-refusal.ts";
import type { UnmatchedNode } from "../../front/nodes/unmatched-nodes.ts";
import { unmatchedRemedy } from "../../front/nodes/unmatched-remedy.ts";
import { type CompiledClass, type CompiledNode, type CompiledPart, lengthOf } from "../../snapshot/compiled.ts";
import { coreTypes } from "../../snapshot/resource-type.ts";
import type { Canary } from "../../snapshot/root.ts";
import { namedFrom } from "../config/located-messages.ts";
import { messageReport } from "../config/message-report.ts";
import { counted } from "../numbers.ts";
import { refusalLines, unmatchedLines } from "../proxy/node-trouble.ts";
import type { Terminal } from "../terminal.ts";
import { noProxiesText, servedFrom } from "./recompiled-text.ts";

/** One round of `portolan dev`, as plain data: it comes from the process that compiles. */
export interface Publication {
  /** Of the folder; absent without one. */
  readonly files?: number | undefined;
  readonly objects: number;
  /** How many classes there are. */
  readonly classCount: number;
  /** Those that are listed. */
  readonly classes: readonly ClassSummary[];
  readonly diagnostics: readonly Diagnostic[];
  /** What the analysers say besides, with the lines of fields. */
  readonly analysis: readonly Diagnostic[];
  /** Those files of the folder that these messages name; absent without a folder. */
  readonly ownFiles?: readonly string[] | undefined;
  readonly result: PublishedRound;
  readonly compileMs: number;
  readonly publishMs: number;
  /** Bootstrap of the first proxy; absent where no pod has a proxy. */
  readonly example?: BootstrapExample | undefined;
}

interface PublishedRound {
  readonly kind: Recompiled["kind"];
  readonly root: string;
  readonly generation: number;
  readonly canary?: Canary | undefined;
  readonly written: { readonly objects: number; readonly bytes: number };
}

/** A class of proxies, in numbers. */
export interface ClassSummary {
  readonly id: string;
  /** Of what a node of it is served. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many nodes it has. */
  readonly nodes: number;
  /** The first of them, by `pod.namespace`. */
  readonly members: readonly string[];
}

export interface BootstrapExample {
  readonly proxy: string;
  /** As YAML. */
  readonly bootstrap: string;
  /** The options, besides those of each proxy, that `portolan bootstrap` prints it with. */
  readonly more: string;
  readonly needsAgent: boolean;
}

export interface DevReport {
  published(publication: Publication): void;
  /**
   * @param authentication who is let in
   * @param example absent where no pod has a proxy
   */
  serving(
    at: { readonly url: string; readonly grpcUrl: string | undefined },
    authentication: string,
    example: BootstrapExample | undefined,
  ): void;
  /** @param places where objects stand, `catalog.yaml:97` */
  refused(refusal: ExplainedRefusal): void;
  /** A node that no class was compiled for has asked. */
  stranger(stranger: UnmatchedNode): void;
  failed(cause: unknown): void;
  /** A live source cannot be read, or can be again: "". */
  troubled(source: string, reason: string): void;
  /** Somebody has deleted the store. */
  gone(): void;
}

/** So many classes are listed as text. */
export const maxClasses = 12;

export interface DevReportOptions {
  /** What is followed, for people. */
  readonly what: string;
  readonly folder: string | undefined;
  /** Of kubectl, the primary cluster's first; "" is the current one. */
  readonly contexts: readonly string[];
  /** How many live origins are followed, clusters among them. */
  readonly origins: number;
  readonly store: string;
  readonly json: boolean;
}

const kubeFlag = (context: string): string => (context === "" ? "--kube" : `--kube=${context}`);

/** The command that says all of the analysers' messages; undefined where none reads what `dev` follows. */
function analyzing(folder: string | undefined, [context]: readonly string[]): string | undefined {
  if (folder === undefined && context === undefined) return undefined;
  const files = folder === undefined ? [] : ["-f", folder];
  return ["analyze", ...files, ...(context === undefined ? [] : [kubeFlag(context)])].join(" ");
}

/** Where `bootstrap`, which reads one place, finds the same proxies; undefined where they come from several, or from one that it does not read. */
function lookingInto({ folder, contexts, origins }: DevReportOptions): string | undefined {
  const [context] = contexts;
  if (folder !== undefined) return origins === 0 ? `--dir ${folder}` : undefined;
  return context !== undefined && origins === 1 ? kubeFlag(context) : undefined;
}

/** Tells what `portolan dev` does: for people on standard error, or as JSON lines on standard output. */
export function devReport(terminal: Terminal, options: DevReportOptions): DevReport {
  const { what, folder, contexts, store, json } = options;
  const { colours } = terminal;
  const label = (text: string) => colours.green(text.padEnd(10));
  /** The store is named once. */
  let isTold = false;
  const tellMessages = messageReport(terminal, analyzing(folder, contexts), label("analyzed"));
  const looking = lookingInto(options);
  const placed = ({ ownFiles = [] }: Publication, messages: readonly Diagnostic[]) =>
    folder === undefined ? messages : namedFrom({ folder, prefix: "" }, ownFiles, messages);
  /** What failed last, for as long as nothing was published since. */
  let failure = "";
  const emit = (event: object) => terminal.out(JSON.stringify(event));

  return {
    published(publication) {
      failure = "";
      const { objects, classCount, classes, result } = publication;
      const messages = {
        diagnostics: placed(publication, publication.diagnostics),
        analysis: placed(publication, publication.analysis),
      };
      if (json) return emit({ event: result.kind, ...summaryOf(publication), ...messages });
      tellMessages(messages);
      terminal.err(`${label("read")}${what}: ${counted(objects, "object")}${inFiles(publication)}`);
      terminal.err(
        `${label("compiled")}${counted(classCount, "class of proxies", "classes of proxies")}, ${ms(publication.compileMs)}`,
      );
      for (const one of classes.slice(0, maxClasses)) {
        terminal.err(`${" ".repeat(10)}${classLine(one)}`);
        terminal.err(`${" ".repeat(12)}${membersText(one)}`);
      }
      if (classCount === 0) terminal.err(`${" ".repeat(10)}${noProxiesText}`);
      if (classCount > maxClasses) terminal.err(`${" ".repeat(10)}… and ${classCount - maxClasses} more`);
      const version = `version ${colours.bold(result.root.slice(0, 12))}, generation ${result.generation}`;
      terminal.err(`${label(result.kind)}${version}${resultText(publication)}`);
      if (!isTold) terminal.err(`${label("store")}${store}`);
      isTold = true;
    },
    serving({ url, grpcUrl }, authentication, example) {
      if (json)
        return emit({
          event: "serving",
          url,
          console: `${url}/`,
          ...(grpcUrl === undefined ? {} : { grpcUrl }),
          store,
          authentication,
          ...(example === undefined ? {} : { proxy: example.proxy }),
        });
      terminal.err(`${label("serving")}${colours.bold(url)}, watching ${what}`);
      if (grpcUrl !== undefined) terminal.err(`${" ".repeat(10)}${colours.bold(grpcUrl)}, streams over gRPC (ADS)`);
      terminal.err(`${" ".repeat(10)}authentication ${authentication}`);
      terminal.err(`${label("console")}${colours.bold(`${url}/`)} in a browser`);
      if (example === undefined) {
        terminal.err(
          "no pod here has a proxy, so no class is compiled for one. A pod is seen to have one if it has an address",
        );
        terminal.err(
          "(a pending one has none yet) and an istio-proxy container, as Istio injects it; a Deployment without pods,",
        );
        terminal.err("if its namespace has the label istio-injection: enabled (docs/proxies.md)");
        return;
      }
      const { proxy, bootstrap, more, needsAgent } = example;
      terminal.err(`${label("bootstrap")}of ${colours.bold(proxy)}, to copy:\n`);
      terminal.out(bootstrap);
      if (looking === undefined) terminal.err(`\nWrite it to envoy.yaml, and start an Envoy with it:`);
      else {
        terminal.err(`\nOr write it to a file, and start an Envoy with it:`);
        terminal.err(`  npx portolan bootstrap ${proxy} ${looking} --server ${url}${more} > envoy.yaml`);
      }
      terminal.err("  envoy -c envoy.yaml --reject-unknown-dynamic-fields");
      if (needsAgent)
        terminal.err(
          "Envoy waits 5 s for certificates unless an agent provides them. Use `portolan dev --certificates none` for plain text.",
        );
    },
    refused(refusal) {
      if (json) return emit({ event: "refused", ...refusal });
      const [first = "", ...others] = refusalLines(refusal);
      terminal.err(`${colours.red("refused".padEnd(10))}${first}`);
      for (const line of others) terminal.err(`${" ".repeat(10)}${line}`);
    },
    stranger(stranger) {
      if (json) return emit({ event: "stranger", ...stranger, remedy: unmatchedRemedy(stranger) });
      const [first = "", ...others] = unmatchedLines(stranger);
      terminal.err(`${colours.yellow(stranger.kind.padEnd(10))}${first}`);
      for (const line of others) terminal.err(`${" ".repeat(10)}${line}`);
    },
    failed(cause) {
      const reason = causeText(cause);
      // What is tried again and again fails for the same reason each time.
      if (reason === failure) return;
      failure = reason;
      if (json) return emit({ event: "failed", reason });
      terminal.err(`${colours.red("failed".padEnd(10))}${reason}; what was published is still served`);
    },
    troubled(source, reason) {
      if (json) return emit({ event: reason === "" ? "in sync" : "trouble", source, reason });
      if (reason === "") terminal.err(`${label("in sync")}${source}`);
      else
        terminal.err(
          `${colours.yellow("trouble".padEnd(10))}${source}: ${reason}; its last valid content is still served`,
        );
    },
    gone() {
      if (json) return emit({ event: "gone", store });
      terminal.err(`${colours.yellow("gone".padEnd(10))}${store} was deleted; it is created again`);
    },
  };
}

const inFiles = ({ files }: Publication): string => (files === undefined ? "" : ` in ${counted(files, "file")}`);

function resultText({ result, publishMs }: Publication): string {
  switch (result.kind) {
    case "unchanged":
      return ": nothing to send";
    case "pinned":
      return `: recorded, and ${servedFrom(result.root, result.canary)}`;
    case "published":
    case "canary":
      return `, ${counted(result.written.objects, "object")} written, ${ms(publishMs)}`;
  }
}

function classLine({ id, counts }: ClassSummary): string {
  const texts = Object.entries(counts).map(([type, count]) => `${type} ${count}`);
  return `${id}  ${texts.join(", ")}`;
}

/** Of what a node of the class is served; endpoints one by one, wherever they lie: a poller's are in its clusters. */
function createClassCounts(): (one: CompiledClass) => Readonly<Record<string, number>> {
  const known = new Map<CompiledPart, number>();
  // Once for each part, which thousands of classes may share.
  const endpointsIn = (part: CompiledPart): number => {
    const count = known.get(part) ?? part.reduce((sum, { text }) => sum + text.split('"endpoint":{').length - 1, 0);
    known.set(part, count);
    return count;
  };
  return ({ poll, stream }) => ({
    ...Object.fromEntries(coreTypes.map((type) => [type, lengthOf(poll[type])])),
    endpoints: stream.endpoints.reduce((sum, part) => sum + endpointsIn(part), 0),
  });
}

/** Nodes by class. */
function membersByClass(nodes: readonly CompiledNode[]): ReadonlyMap<string, readonly CompiledNode[]> {
  return Map.groupBy(nodes, ({ classId }) => classId);
}

/** The first of them, by `pod.namespace`. */
const namesOf = (members: readonly CompiledNode[]): readonly string[] =>
  members.slice(0, maxMembers).map(({ keys }) => keys[0] ?? "");

const maxMembers = 5;

function membersText({ nodes, members }: ClassSummary): string {
  if (nodes === 0) return "fallback class for unknown proxies";
  const more = nodes > members.length ? ` and ${nodes - members.length} more` : "";
  return members.join(", ") + more;
}

/** The first of the classes that were compiled, in numbers. @param most how many at most; all when absent */
export function classSummaries(
  { classes, nodes }: Pick<FilesCompiled["value"], "classes" | "nodes">,
  most?: number,
): readonly ClassSummary[] {
  const members = membersByClass(nodes);
  const countsOf = createClassCounts();
  return classes.slice(0, most).map((one) => {
    const own = members.get(one.id) ?? [];
    return { id: one.id, counts: countsOf(one), nodes: own.length, members: namesOf(own) };
  });
}

const classJson = ({ id, counts, members }: ClassSummary) => ({ id, ...counts, members });

/** What was compiled, in numbers, as JSON tells it: objects, and classes with the first of their members. */
export const compiledSummary = ({ objects, value }: FilesCompiled): object => ({
  objects,
  classes: classSummaries(value).map(classJson),
});

function summaryOf(publication: Publication): object {
  const { files, objects, classes, result, compileMs, publishMs } = publication;
  return {
    ...(files === undefined ? {} : { files }),
    objects,
    classes: classes.map(classJson),
    version: result.root,
    generation: result.generation,
    ...(result.kind === "unchanged" ? {} : { written: result.written }),
    compileMs: Math.round(compileMs),
    publishMs: Math.round(publishMs),
  };
}

const ms = (value: number): string => `${value.toFixed(0)} ms`;
