import type { NodeState } from "../../front/nodes/node-state.ts";
import { keptText, suspectText } from "../proxy/node-trouble.ts";

/** More are not named for one resource. */
const maxParts = 8;

/** What a proxy refuses, since when and why, what it keeps, and which objects that may be about. */
export const refusedLines = (name: string, { resources }: Pick<NodeState, "resources">): readonly string[] =>
  resources.flatMap((resource) => {
    const { type, name: of, refused, accepted } = resource;
    if (refused === undefined) return [];
    const what = `${type}${of === undefined ? "" : ` ${of}`}`;
    const words =
      refused.reason === undefined ? "; see its log for the reason" : `: ${refused.reason.replaceAll(/\s+/g, " ")}`;
    const parts = refused.parts
      .slice(0, maxParts)
      .map(({ resource: part, ...of }) => `  ${suspectText({ name: part, ...of })}`);
    const more = refused.parts.length > maxParts ? [`  and ${refused.parts.length - maxParts} more`] : [];
    const first = `${name} refuses ${what} ${refused.version.slice(0, 12)} since ${refused.since}, and ${keptText(accepted)}${words}`;
    return [first, ...parts, ...more];
  });
