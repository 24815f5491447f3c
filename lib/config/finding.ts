import type { Diagnostic, Origin } from "../base/diagnostic.ts";
import type { DiagnosticCode } from "../base/diagnostic-codes.ts";

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

/** One object reports so many findings; one more counts the rest. */
export const maxFindings = 100;

/**
 * The findings of one object, cut to `maxFindings`: all of them where there are no more. Errors go before warnings and notes, so
 * that an object is never refused without one; what is left stays in its order, and a last finding counts what was left out.
 */
export function cutFindings(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= maxFindings) return findings;
  const kept = new Set<Finding>();
  for (const severity of severities) {
    for (const finding of findings) {
      if (kept.size === maxFindings) break;
      if (finding.severity === severity) kept.add(finding);
    }
  }
  const left = findings.filter((finding) => !kept.has(finding));
  const message = `has ${left.length} more findings, which are not reported`;
  const more: Finding = {
    code: "more-findings",
    severity: worstOf(left.map(({ severity }) => severity)),
    path: [],
    message,
    hint: moreHint,
  };
  return [...findings.filter((finding) => kept.has(finding)), more];
}

/** Gravest first. */
const severities: readonly Diagnostic["severity"][] = ["error", "warning", "info"];

/** The gravest of some severities; `info` of none. */
export const worstOf = (some: readonly Diagnostic["severity"][]): Diagnostic["severity"] =>
  severities.find((severity) => some.includes(severity)) ?? "info";

export const moreHint = "correct those that are reported, and read it again";
