import { byCodePoint, type Diagnostic, kindText } from "../config/diagnostic.ts";

/** One order for all runs, each message once: by file, line, path, code, text. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const byText = new Map<string, Diagnostic>();
  for (const diagnostic of diagnostics) {
    const key = sortKey(diagnostic);
    const known = byText.get(key);
    // Whichever came first: those that say the same may have other hints.
    byText.set(key, known === undefined || restOf(diagnostic) < restOf(known) ? diagnostic : known);
  }
  return [...byText.entries()].sort(([a], [b]) => byCodePoint(a, b)).map(([, diagnostic]) => diagnostic);
}

const restOf = ({ severity, hint }: Diagnostic): string => `${severity} ${hint}`;

function sortKey({ origin, path, code, message }: Diagnostic): string {
  const line = String(origin.line).padStart(9, "0");
  return [
    origin.file,
    line,
    kindText(origin.key),
    origin.key.namespace,
    origin.key.name,
    path.join("."),
    code,
    message,
  ].join("\0");
}
