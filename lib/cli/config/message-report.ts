import { type Diagnostic, keyText } from "../../base/diagnostic.ts";
import { counted } from "../numbers.ts";
import { printDiagnostics, type Terminal } from "../terminal.ts";

/** Messages of the analysers that one round shows. */
const mostAnalyzed = 12;
/** Messages of reading and compiling that one round shows. */
const mostCompiled = 50;

/** What one round reports of a world, with lines and file names as people are shown them. */
export interface Messages {
  /** Of reading and compiling. */
  readonly diagnostics: readonly Diagnostic[];
  /** Of the analysers. */
  readonly analysis: readonly Diagnostic[];
}

/**
 * Prints the messages of each round as one list: errors of reading and compiling in each, since something is missing until they are
 * corrected; all others once for as long as they hold. Notes of the analysers are only counted.
 *
 * @param command lists all of the analysers' messages: `analyze -f mesh/`; absent where no command does
 * @param label the first word of the line that counts them
 */
export function messageReport(
  terminal: Terminal,
  command: string | undefined,
  label: string,
): (messages: Messages) => void {
  let reported: ReadonlySet<string> = new Set();
  return ({ diagnostics, analysis }) => {
    const isKnown = (one: Diagnostic) => reported.has(textOf(one));
    const before = diagnostics.filter((one) => one.severity !== "error" && isKnown(one));
    const again = new Set(before);
    const analyzed = analysis.filter(({ severity }) => severity !== "info");
    const fresh = analyzed.filter((one) => !isKnown(one));
    const shown = fresh.slice(0, mostAnalyzed);
    printDiagnostics(
      terminal,
      [...diagnostics.filter((one) => !again.has(one)), ...shown],
      mostCompiled + shown.length,
    );
    reported = new Set([...diagnostics, ...analyzed].map(textOf));
    const standing = [...countOf(before, "warning", "warning"), ...countOf(before, "info", "note")];
    if (standing.length > 0) terminal.err(`${standing.join(" and ")} as reported before`);
    if (fresh.length === 0) return;
    const left = [
      ...(fresh.length > shown.length ? [`${fresh.length - shown.length} more`] : []),
      ...(fresh.length < analyzed.length ? [`${analyzed.length - fresh.length} reported before`] : []),
      ...countOf(analysis, "info", "note"),
    ];
    const besides = left.length === 0 ? "" : `, besides ${left.join(" and ")}`;
    const all = command === undefined ? "" : `: \`portolan ${command}\` lists all`;
    terminal.err(`${label}${counted(shown.length, "message")} of the analysers above${besides}${all}`);
  };
}

function countOf(messages: readonly Diagnostic[], severity: Diagnostic["severity"], noun: string): readonly string[] {
  const count = messages.filter((one) => one.severity === severity).length;
  return count === 0 ? [] : [counted(count, noun)];
}

/** The line is no part of it: a line that is added above an object moves it. */
const textOf = ({ code, severity, origin, path, message }: Diagnostic): string =>
  JSON.stringify([code, severity, origin.file, keyText(origin.key), path, message]);
