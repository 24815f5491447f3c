import { type Diagnostic, keyText } from "../../config/diagnostic.ts";
import { counted } from "../numbers.ts";
import { printDiagnostics, type Terminal } from "../terminal.ts";

/**
 * Tells what compiling says of objects, round by round: errors each time, since something is missing until they are mended; warnings and
 * notes once for as long as they hold.
 */
export function standingReport(terminal: Terminal): (diagnostics: readonly Diagnostic[]) => void {
  let told: ReadonlySet<string> = new Set();
  return (diagnostics) => {
    const isKnown = (one: Diagnostic) => one.severity !== "error" && told.has(textOf(one));
    printDiagnostics(
      terminal,
      diagnostics.filter((one) => !isKnown(one)),
    );
    const before = diagnostics.filter(isKnown);
    const count = (wanted: Diagnostic["severity"]) => before.filter(({ severity }) => severity === wanted).length;
    const [warnings, notes] = [count("warning"), count("info")];
    const standing = [
      ...(warnings === 0 ? [] : [counted(warnings, "warning")]),
      ...(notes === 0 ? [] : [counted(notes, "note")]),
    ];
    if (standing.length > 0) terminal.err(`${standing.join(" and ")} as told before`);
    told = new Set(diagnostics.map(textOf));
  };
}

/** Where it stands is no part of it: a line above it moves it. */
const textOf = ({ code, severity, origin, path, message }: Diagnostic): string =>
  JSON.stringify([code, severity, origin.file, keyText(origin.key), path, message]);
