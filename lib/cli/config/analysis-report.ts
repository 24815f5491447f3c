import type { AnalysisInput } from "../../analysis/analysis-input.ts";
import { analyze, analyzers } from "../../analysis/analyze.ts";
import { defaultWorldOptions } from "../../compile/world-of.ts";
import { type Diagnostic, keyText } from "../../config/diagnostic.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { counted } from "../numbers.ts";
import { printDiagnostics, type Terminal } from "../terminal.ts";

/** Analysers of what does not fit together; the others repeat what reading has said. */
const wholeAnalyzers = analyzers.map(({ name }) => name).filter((name) => !name.startsWith("schema."));

/** Messages that one round shows. */
const mostShown = 12;

/**
 * What `portolan analyze` says of a world, without what was said of the same fields while it was compiled.
 *
 * @param said while reading and compiling
 */
export function analysisOf(
  loaded: LoadedDirectory & Pick<AnalysisInput, "otherHosts">,
  said: readonly Diagnostic[],
): readonly Diagnostic[] {
  const clusterIds = [defaultWorldOptions.clusterId, ...loaded.clusters.map(({ id }) => id)];
  const known = new Set(said.map(placeText));
  return analyze({ ...loaded, diagnostics: [], clusterIds }, { only: wholeAnalyzers }).filter(
    (message) => !known.has(placeText(message)),
  );
}

/** Tells messages of the analysers to people, each once for as long as it holds. */
export type AnalysisReport = (messages: readonly Diagnostic[]) => void;

/**
 * @param command says all of them: `analyze -f mesh/`; absent where no command does
 * @param label the first word of the line that counts them
 */
export function analysisReport(terminal: Terminal, command: string | undefined, label: string): AnalysisReport {
  let told: ReadonlySet<string> = new Set();
  return (messages) => {
    const shown = messages.filter(({ severity }) => severity !== "info");
    const fresh = shown.filter((message) => !told.has(messageText(message)));
    told = new Set(shown.map(messageText));
    if (fresh.length === 0) return;
    printDiagnostics(terminal, fresh.slice(0, mostShown));
    const left = [
      ...(fresh.length > mostShown ? [`${fresh.length - mostShown} more`] : []),
      ...(fresh.length < shown.length ? [`${shown.length - fresh.length} told before`] : []),
      ...(shown.length < messages.length ? [counted(messages.length - shown.length, "note")] : []),
    ];
    const besides = left.length === 0 ? "" : `, besides ${left.join(" and ")}`;
    const count = Math.min(fresh.length, mostShown);
    const all = command === undefined ? "" : `: \`portolan ${command}\` says all`;
    terminal.err(`${label}${count} ${count === 1 ? "message" : "messages"} above${besides}${all}`);
  };
}

const placeText = ({ origin: { key }, path }: Diagnostic): string => `${keyText(key)} ${path.join(".")}`;
const messageText = (message: Diagnostic): string => `${message.code} ${placeText(message)} ${message.message}`;
