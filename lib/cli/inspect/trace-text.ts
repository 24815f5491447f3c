import { pathText } from "../../base/path-text.ts";
import type { Decision, End, TracedEndpoint, Verdict, Way } from "../../trace/decision.ts";
import type { Terminal } from "../terminal.ts";
import type { FindCauses } from "./causes.ts";

export interface TraceTextOptions {
  readonly colours: Terminal["colours"];
  readonly causesOf: FindCauses;
  /** How much is said of what was passed over, at most, for each decision. */
  readonly maxPassedOver: number;
}

const maxCauses = 4;
const maxEndpoints = 10;

/** One decision: what was chosen and why, what made it, and what was passed over. */
export function decisionLines(decision: Decision, options: TraceTextOptions, indent = ""): readonly string[] {
  const { step, chosen = "none", place, verdict, why, passedOver, morePassedOver } = decision;
  const { colours, causesOf, maxPassedOver } = options;
  const inner = `${indent}  `;
  const causes = place === undefined ? [] : causesOf(place);
  const shown = passedOver.slice(0, maxPassedOver);
  const more = passedOver.length + morePassedOver - shown.length;
  return [
    `${indent}${colours.cyan(step)} ${colours.bold(chosen)}${verdict === undefined ? "" : ` ${verdictText(verdict)}`}`,
    ...(why === "" ? [] : [`${inner}${why}`]),
    ...causes.slice(0, maxCauses).map(({ object, at, path }) => {
      const where = at === undefined ? "" : `${colours.green(at)} `;
      return `${inner}from ${where}${object}${path.length === 0 ? "" : ` ${colours.dim(pathText(path))}`}`;
    }),
    ...(causes.length > maxCauses ? [`${inner}and from ${causes.length - maxCauses} more objects`] : []),
    ...shown.map(({ name, why: reason }) => colours.dim(`${inner}not ${name}: ${reason}`)),
    ...(more > 0 && maxPassedOver > 0 ? [colours.dim(`${inner}nor ${more} more`)] : []),
  ];
}

function verdictText(verdict: Verdict): string {
  switch (verdict) {
    case "passes":
      return "lets it pass";
    case "answers":
      return "ends it";
    case "part":
      return "ends a part";
    case "depends":
      return "depends";
  }
}

/** One way, with its share where there are several. */
export function wayLines(way: Way, isOnly: boolean, options: TraceTextOptions): readonly string[] {
  const indent = isOnly ? "" : "  ";
  const { decisions, dependsOn, end, rewritten, mirrors } = way;
  const isOpen = dependsOn.length > 0;
  const changed = [
    ...(rewritten.path === undefined ? [] : [`path ${rewritten.path}`]),
    ...(rewritten.authority === undefined ? [] : [`host ${rewritten.authority}`]),
  ];
  return [
    ...(isOnly ? [] : [options.colours.bold(`${isOpen ? "at most " : ""}${way.sharePercent} % of them`)]),
    ...decisions.flatMap((decision) => decisionLines(decision, options, indent)),
    ...(isOpen ? [`${indent}${options.colours.yellow("depends on")} ${dependsOn.join("; ")}. If it passes:`] : []),
    ...(changed.length === 0 ? [] : [`${indent}  sent on with ${changed.join(" and ")}`]),
    ...mirrors.map((cluster) => `${indent}  a copy goes to ${cluster}`),
    ...endLines(end, isOpen).map((line) => `${indent}${line}`),
  ];
}

/** @param isOpen whether some of the requests may be answered before */
function endLines(end: End, isOpen: boolean): readonly string[] {
  switch (end.kind) {
    case "endpoints": {
      const more = end.endpoints.length - maxEndpoints;
      const lines = end.endpoints.slice(0, maxEndpoints).map((one) => `→ ${endpointText(one, isOpen)}`);
      return more > 0 ? [...lines, `→ and ${more} more`] : lines;
    }
    case "original destination":
      return [`→ where it was going: ${end.address ?? "the address that its client has"}, port ${end.port}`];
    case "redirect":
      return [`→ redirect ${end.status} to ${end.location}`];
    case "response":
      return [`→ response ${end.status}: ${end.why}`];
    case "closed":
      return [`→ the connection is closed: ${end.why}`];
    case "not known":
      return [`→ not known: ${end.why}`];
  }
}

function endpointText({ address, port, sharePercent, locality, priority }: TracedEndpoint, isOpen: boolean): string {
  const more = [
    sharePercent === undefined ? "by a hash of the request" : `${sharePercent} %${isOpen ? " of those" : ""}`,
    ...(locality === "" ? [] : [locality]),
    ...(priority === 0 ? [] : [`priority ${priority}`]),
  ];
  return `${port === 0 ? address : `${address}:${port}`} (${more.join(", ")})`;
}
