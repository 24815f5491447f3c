import { byCodePoint, type Diagnostic, kindText } from "../base/diagnostic.ts";
import { limits } from "../limits/limits.ts";
import { cutText, isWithin } from "../snapshot/free-text.ts";

/** What one message of a diagnostic, or its hint, may have. Most have a tenth. */
const maxMessageBytes = 4_096;

/** One order for all runs, each message once: by file, line, path, code, text. Texts out of objects are cut to their bounds. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const byText = new Map<string, Diagnostic>();
  for (const diagnostic of diagnostics.map(bounded)) {
    const key = sortKey(diagnostic);
    const known = byText.get(key);
    // Whichever came first: those that say the same may have other hints.
    byText.set(key, known === undefined || restOf(diagnostic) < restOf(known) ? diagnostic : known);
  }
  return [...byText.entries()].sort(([a], [b]) => byCodePoint(a, b)).map(([, diagnostic]) => diagnostic);
}

/**
 * A diagnostic without the megabytes that a name, a kind or a field of a refused object may have: everybody who compiles, and everybody who
 * looks at what is served, is sent the diagnostics of all sources. The same object where nothing is too long.
 */
function bounded(diagnostic: Diagnostic): Diagnostic {
  const { message, hint, path, origin } = diagnostic;
  const { group, kind, name, namespace } = origin.key;
  const names = [origin.file, group, kind, name, namespace, ...path];
  const isShort =
    isWithin(message, maxMessageBytes) &&
    isWithin(hint, maxMessageBytes) &&
    names.every((part) => typeof part === "number" || isWithin(part, limits.nameBytes));
  if (isShort) return diagnostic;
  const cut = (text: string): string => cutText(text, limits.nameBytes);
  return {
    ...diagnostic,
    message: cutText(message, maxMessageBytes),
    hint: cutText(hint, maxMessageBytes),
    path: path.map((part) => (typeof part === "number" ? part : cut(part))),
    origin: {
      ...origin,
      file: cut(origin.file),
      key: { group: cut(group), kind: cut(kind), name: cut(name), namespace: cut(namespace) },
    },
  };
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
