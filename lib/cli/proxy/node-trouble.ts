import type { ExplainedRefusal } from "../../front/nodes/explain-refusal.ts";
import { strangerRemedy } from "../../front/nodes/stranger-remedy.ts";
import type { Stranger } from "../../front/nodes/strangers.ts";

const maxSuspects = 8;

/**
 * A refusal for people: who refuses what, then the resources that it may be about, with the objects behind them.
 *
 * @param places where objects stand, `catalog.yaml:97`; those that are not known are named alone
 */
export function refusalLines(
  { nodeId, type, name, refused, kept, suspects, error }: ExplainedRefusal,
  places: ReadonlyMap<string, string>,
): readonly string[] {
  const what = name === "" ? type : `${type} "${name}"`;
  const instead = kept === undefined ? "and has none" : `and keeps ${kept.slice(0, 12)}`;
  const first = `${nodeId} refuses ${what} of version ${refused.slice(0, 12)}, ${instead}; ${error === undefined ? "its log says why" : "it says"}`;
  const words = error === undefined ? [] : [error];
  if (suspects === undefined) return [first, ...words];
  const more = suspects.length > maxSuspects ? [`and ${suspects.length - maxSuspects} more`] : [];
  const lines = suspects.slice(0, maxSuspects).map(({ name: resource, from }) => {
    const objects = from.map((key) => (places.has(key) ? `${key} (${places.get(key)})` : key));
    return `suspect: ${resource}${objects.length === 0 ? "" : `, from ${objects.join(", ")}`}`;
  });
  return [first, ...words, ...lines, ...more];
}

/** A node without a class of its own, and what to do about it. */
export function strangerLines(stranger: Stranger): readonly string[] {
  const { nodeId, kind, reason } = stranger;
  return [kind === "unknown" ? reason : `${nodeId}: ${reason}`, `hint: ${strangerRemedy(stranger)}`];
}
