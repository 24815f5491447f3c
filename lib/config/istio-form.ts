import { byCodePoint, type Diagnostic, kindText } from "../base/diagnostic.ts";
import { type AnalysisCode, diagnosticCodes } from "../base/diagnostic-codes.ts";
import { protections } from "./fail-closed/protections.ts";
import { ineffectiveMatch, unreachableRoute } from "./rules/routes/unreachable-routes.ts";

/** Codes of reading that concern what a source keeps, and no mistake of an object: istioctl has no code for them. */
const ofSources: ReadonlySet<string> = new Set([
  "empty-source",
  "half-saved",
  "held-configuration-lost",
  "last-valid-served",
  "security-closed",
  "security-open",
  "source-held",
  "unreadable-source",
]);

/** Reading checks the values of EnvoyFilters' patches, too. */
const readingCodes: ReadonlySet<string> = new Set([
  ...diagnosticCodes.reading.filter((code) => !ofSources.has(code)),
  "envoy-filter-not-served",
  "envoy-filter-unknown-type",
  "envoy-filter-value",
]);

/** The kinds that are read. Not from their schemas, which are half of the code that a short command would load. */
const istioKinds: ReadonlySet<string> = new Set(
  [...protections.keys()].map((key) => {
    const [group = "", kind = ""] = key.split("/");
    return kindText({ group, kind });
  }),
);

const levels = { IST0106: "error", IST0130: "warning", IST0131: "info", IST0133: "warning" } as const;

/**
 * A message of reading as istioctl classifies it: under IST0106, IST0130, IST0131 or IST0133, with that code's level. Messages that have
 * another code of istioctl, or none, stay as they are. Every command that prints messages uses this form, so that they agree.
 */
export function inIstioForm(diagnostic: Diagnostic): Diagnostic {
  const code = istioCode(diagnostic);
  return code === undefined ? diagnostic : { ...diagnostic, code, severity: levels[code] };
}

function istioCode({ code, severity, origin }: Diagnostic): (AnalysisCode & keyof typeof levels) | undefined {
  if (!readingCodes.has(code)) return undefined;
  if (severity === "error") return "IST0106";
  if (severity === "info" || !istioKinds.has(kindText(origin.key))) return undefined;
  if (code === unreachableRoute) return "IST0130";
  return code === ineffectiveMatch ? "IST0131" : "IST0133";
}

const ranks = { error: 0, warning: 1, info: 2 } as const;

/** Compares messages in istioctl's form: by level, code, file, line and path. */
export const byLevelAndPlace = (a: Diagnostic, b: Diagnostic): number =>
  ranks[a.severity] - ranks[b.severity] ||
  byCodePoint(a.code, b.code) ||
  byCodePoint(a.origin.file, b.origin.file) ||
  a.origin.line - b.origin.line ||
  byCodePoint(a.path.join("."), b.path.join("."));
