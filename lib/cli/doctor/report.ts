import { oneLine, type Terminal } from "../terminal.ts";
import type { Finding } from "./finding.ts";

type Status = Finding["status"];

const marks = { passed: "✓", warning: "!", failed: "✗", skipped: "-" } as const satisfies Record<Status, string>;

/** The longest name of a check. */
const nameWidth = "certificate chain".length;

/** One line for a check; below one that is not as it should be, what to do. */
export function findingLines(finding: Finding, { colours }: Pick<Terminal, "colours">): readonly string[] {
  const { check, status, text } = finding;
  const paint = { passed: colours.green, warning: colours.yellow, failed: colours.red, skipped: colours.dim }[status];
  const said = oneLine(status === "skipped" ? `skipped: ${text}` : text);
  const line = `${paint(marks[status])} ${check.padEnd(nameWidth)}  ${status === "skipped" ? colours.dim(said) : said}`;
  return "remedy" in finding ? [line, `  ${colours.dim("what to do:")} ${oneLine(finding.remedy)}`] : [line];
}

/** How many checks came to what. */
export interface Counts extends Readonly<Record<Status, number>> {}

export function countsOf(findings: readonly Finding[]): Counts {
  const count = (status: Status) => findings.filter((finding) => finding.status === status).length;
  return { passed: count("passed"), warning: count("warning"), failed: count("failed"), skipped: count("skipped") };
}

export const countsText = ({ passed, warning, failed, skipped }: Counts): string =>
  `${passed} passed, ${warning} with a warning, ${failed} failed, ${skipped} skipped`;
