import { stripVTControlCharacters } from "node:util";
import type { Command } from "commander";
import picocolors from "picocolors";
import { type Diagnostic, kindText } from "../base/diagnostic.ts";
import { pathText } from "../base/path-text.ts";
import { byLevelAndPlace, inIstioForm } from "../config/istio-form.ts";
import type { Progress } from "./progress.ts";

/** Where a command writes: the terminal in production, a list of lines in a test. */
export interface Terminal {
  /** One line on standard output. */
  out(line: string): void;
  /** One line on standard error: progress, diagnostics, hints. */
  err(line: string): void;
  /** One line on standard output that is meant to be a command of GitHub Actions; absent: as `out`. */
  readonly command?: (line: string) => void;
  readonly colours: ReturnType<typeof picocolors.createColors>;
  /** What is shown of long work; absent: nothing. */
  readonly progress?: Progress;
}

/**
 * A text without what a terminal would obey, but for colours and the ends of lines, and without what turns the order of letters round:
 * names, and what an Envoy says, are whatever somebody wrote.
 */
export const harmless = (text: string): string =>
  text.replaceAll(/([\p{Cc}\p{Bidi_Control}])(\[[\d;]*m)?/gu, (found, control: string, colour = "") => {
    const isPlain = control === "\n" || control === "\t" || (control === "\u001b" && colour !== "");
    return isPlain ? found : `\uFFFD${colour}`;
  });

/** What people wrote to be read, as one line: where it begins another one stands a blank. */
export const proseLine = (text: string): string => text.replaceAll(/[\r\n\v\f\u0085\u2028\u2029]+/g, " ");

/** A text as one line: names of objects and files are whatever somebody wrote, and a line feed in one begins no line of its own. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, "\uFFFD");

/**
 * A text without lines that GitHub Actions would take for a command, such as `::add-mask::x`, and on standard error without what it and
 * others take for one anywhere in a line, such as `##[group]` or `##vso[…]`: a log may quote a file of a pull request.
 *
 * @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function withoutCommands(text: string, stream: "out" | "err"): string {
  const marked = text.replaceAll(/^[^\S\n\r\u2028\u2029]*(?=::[^\n]*?::)/gm, "$&\uFFFD");
  // Standard output may be JSON, in which a string may hold these characters.
  return stream === "out" ? marked : marked.replaceAll(/##(?=\w*\[)/g, "$&\uFFFD");
}

/** How a process writes. */
interface TerminalOptions {
  /** As `process.argv`. */
  readonly argv?: readonly string[];
  readonly progress?: Progress;
}

/**
 * The terminal of this process. Colours are for terminals, on each of the two streams by itself; `--color`, `--no-color`, NO_COLOR and
 * FORCE_COLOR say otherwise, in this order.
 *
 * @see https://no-color.org
 * @see https://force-color.org
 */
export function processTerminal({ argv = process.argv, progress }: TerminalOptions = {}): Terminal {
  // Whoever reads has read enough, as `head` does: what comes after is for nobody.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EPIPE") throw cause;
    });
  }
  const isColoured = (stream: { readonly isTTY?: boolean }) => wantsColours(argv, process.env, stream.isTTY === true);
  const [outColoured, errColoured] = [isColoured(process.stdout), isColoured(process.stderr)];
  const written = (line: string, stream: "out" | "err", coloured: boolean) => {
    const shown = coloured ? harmless(line) : stripVTControlCharacters(harmless(line));
    return `${withoutCommands(shown, stream)}\n`;
  };
  return {
    out: (line) => {
      progress?.speaks();
      process.stdout.write(written(line, "out", outColoured));
    },
    command: (line) => {
      progress?.speaks();
      process.stdout.write(`${stripVTControlCharacters(harmless(line))}\n`);
    },
    err: (line) => {
      progress?.speaks();
      process.stderr.write(written(line, "err", errColoured));
    },
    colours: picocolors.createColors(outColoured || errColoured),
    ...(progress === undefined ? {} : { progress }),
  };
}

/** Options that every command takes, in front of it or behind. */
const colourOptions = ["--color", "--no-color"] as const;

/** @param argv as `process.argv` */
function wantsColours(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  const flag = ownOptions(argv).findLast((word) => colourOptions.some((option) => option === word));
  if (flag !== undefined) return flag === "--color";
  if ((env.NO_COLOR ?? "") !== "") return false;
  if ((env.FORCE_COLOR ?? "") !== "") return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return isTerminal && env.TERM !== "dumb";
}

/** Without what stands behind `--`, which is another program's. */
function ownOptions(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end === -1 ? argv : argv.slice(0, end);
}

/** A command line without the options for colours, which say nothing to a command. */
export function withoutColourOptions(argv: readonly string[]): readonly string[] {
  const own = ownOptions(argv);
  return [...own.filter((word) => !colourOptions.some((option) => option === word)), ...argv.slice(own.length)];
}

/**
 * Writes two lines: where and what, then what to do next. Severity comes first so that a log can be searched for it. Of a message that
 * istioctl has a code for, both codes are written, istioctl's first.
 */
export function printDiagnostic({ err, colours }: Terminal, diagnostic: Diagnostic): void {
  const { severity, origin, path, code: reported, message, hint } = inIstioForm(diagnostic);
  const code = reported === diagnostic.code ? reported : `${reported} ${diagnostic.code}`;
  const paint = severity === "error" ? colours.red : severity === "warning" ? colours.yellow : colours.cyan;
  const place = oneLine(origin.line > 0 ? `${origin.file}:${origin.line}` : origin.file);
  const { kind, namespace, name } = { ...origin.key, kind: kindText(origin.key) };
  const object = oneLine(kind === "" ? "" : ` ${kind} ${namespace === "" ? name : `${namespace}/${name}`}`);
  const where = path.length === 0 ? "" : ` ${colours.bold(oneLine(pathText(path)))}:`;
  const of = place === "" ? object : ` ${colours.bold(place)}${object}`;
  err(`${paint(severity)}${of}:${where} ${oneLine(message)} ${colours.dim(`[${code}]`)}`);
  if (hint !== "") err(`  ${colours.dim("hint:")} ${oneLine(hint)}`);
}

/** Writes diagnostics in the order of `analyze`: by level, code and place; counts those past `most`. */
export function printDiagnostics(
  terminal: Terminal,
  diagnostics: readonly Diagnostic[],
  most = 50,
  listing = "portolan validate",
): void {
  const sorted = oneOfEachKind(diagnostics)
    .map((diagnostic) => ({ diagnostic, form: inIstioForm(diagnostic) }))
    .sort((a, b) => byLevelAndPlace(a.form, b.form));
  for (const { diagnostic } of sorted.slice(0, most)) printDiagnostic(terminal, diagnostic);
  if (sorted.length > most) terminal.err(`… and ${sorted.length - most} more; \`${listing}\` lists all of them`);
}

/** Objects of other systems come in hundreds: one line for each of their kinds, at the first of them, with their number. */
function oneOfEachKind(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const isOther = ({ code, severity }: Diagnostic) => code === "unknown-kind" && severity === "warning";
  const counts = new Map<string, number>();
  for (const one of diagnostics) if (isOther(one)) counts.set(one.message, (counts.get(one.message) ?? 0) + 1);
  return diagnostics.flatMap((one) => {
    const count = isOther(one) ? counts.get(one.message) : 1;
    if (count === undefined) return [];
    if (isOther(one)) counts.delete(one.message);
    return count === 1
      ? [one]
      : [{ ...one, message: `${one.message}; there are ${count} such objects, of which this is the first` }];
  });
}

/** A command adds itself to the program; what it fails with is thrown as `PortolanError`. */
export type Register = (program: Command, terminal: Terminal) => void;
