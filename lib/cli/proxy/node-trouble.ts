import { acceptedBefore } from "../../agent/source/source.ts";
import type { ExplainedRefusal, Suspect } from "../../front/nodes/explain-refusal.ts";
import type { UnmatchedNode } from "../../front/nodes/unmatched-nodes.ts";
import { unmatchedRemedy } from "../../front/nodes/unmatched-remedy.ts";

const maxSuspects = 8;

/** What a node goes on with that refuses something. @param accepted the version that it has accepted last, "" for none */
export function keptText(accepted: string): string {
  if (accepted === "") return "has none";
  return accepted === acceptedBefore ? "keeps what it had before its agent started" : `keeps ${accepted.slice(0, 12)}`;
}

/** A refusal for people: which node refuses what, then the resources that it may be about, with the objects behind them and where they stand. */
export function refusalLines({
  nodeId,
  type,
  name,
  refused,
  kept,
  suspects,
  error,
}: ExplainedRefusal): readonly string[] {
  const what = name === "" ? type : `${type} "${name}"`;
  const instead = keptText(kept ?? "");
  const first = `${nodeId} refuses ${what} of version ${refused.slice(0, 12)}, and ${instead}; ${error === undefined ? "see its log for the reason" : "its reason"}`;
  const words = error === undefined ? [] : [error];
  if (suspects === undefined) return [first, ...words];
  const more = suspects.length > maxSuspects ? [`and ${suspects.length - maxSuspects} more`] : [];
  const lines = suspects.slice(0, maxSuspects).map((suspect) => suspectText(suspect));
  return [first, ...words, ...lines, ...more];
}

/** `suspect: 0.0.0.0_8080, from Gateway/shop/web (gateway.yaml:3)`. */
export function suspectText({ name, from, at = [] }: Suspect): string {
  const places = at.length === 0 ? "" : ` (${at.join(", ")})`;
  return `suspect: ${name}${from.length === 0 ? "" : `, from ${from.join(", ")}${places}`}`;
}

/** A node without a class of its own, and what to do about it. */
export function unmatchedLines(unmatched: UnmatchedNode): readonly string[] {
  const { nodeId, kind, reason } = unmatched;
  return [kind === "unknown" ? reason : `${nodeId}: ${reason}`, `hint: ${unmatchedRemedy(unmatched)}`];
}
