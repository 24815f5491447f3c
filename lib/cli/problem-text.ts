import type { Diagnostic } from "../base/diagnostic.ts";
import { fieldsOf, jsonIn } from "../base/untyped.ts";

/** Why a request was refused. */
export interface Problem {
  readonly detail: string;
  /** Of what was sent; none of a front. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What a refusal says, as RFC 9457 has it; of anything else, from a proxy on the way, the beginning. */
export function problemIn(text: string): Problem {
  const { detail, diagnostics } = fieldsOf(jsonIn(text));
  return {
    detail: typeof detail === "string" ? detail : text.slice(0, 500),
    diagnostics: diagnosticsIn(diagnostics),
  };
}

/** Those of a list that another program wrote. */
export const diagnosticsIn = (list: unknown): readonly Diagnostic[] =>
  Array.isArray(list) ? list.filter(isDiagnostic) : [];

/** As far as it is printed: whoever answers may be another version, or no compile function. */
function isDiagnostic(value: unknown): value is Diagnostic {
  const { code, severity, origin, path, message, hint } = fieldsOf(value);
  const { key, file, line } = fieldsOf(origin);
  const { group, kind, name, namespace } = fieldsOf(key);
  const texts = [code, message, hint, file, group, kind, name, namespace];
  return (
    texts.every((text) => typeof text === "string") &&
    typeof line === "number" &&
    (severity === "error" || severity === "warning" || severity === "info") &&
    Array.isArray(path) &&
    path.every((part) => typeof part === "string" || typeof part === "number")
  );
}
