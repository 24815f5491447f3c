import type { Diagnostic, Origin } from "./diagnostic.ts";
import type { DiagnosticCode } from "./diagnostic-codes.ts";

export type Path = readonly (string | number)[];

/** A diagnostic that does not know yet where its object stands. */
export type Finding = Omit<Diagnostic, "origin">;

export function error(path: Path, message: string, hint = "", code: DiagnosticCode = "invalid-value"): Finding {
  return { code, severity: "error", path, message, hint };
}

export function warning(path: Path, message: string, hint = "", code: DiagnosticCode = "discouraged-value"): Finding {
  return { code, severity: "warning", path, message, hint };
}

/** For what is right, but has no effect. */
export function info(path: Path, message: string, hint = "", code: DiagnosticCode = "no-effect"): Finding {
  return { code, severity: "info", path, message, hint };
}

export function at(origin: Origin, finding: Finding): Diagnostic {
  return { ...finding, origin };
}
