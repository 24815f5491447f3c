import { step } from "../mesh/memo/step.ts";
import { type ResourceType, typeUrlOf } from "../snapshot/resource-type.ts";
import { checkResource } from "../xds/descriptors.ts";
import type { Resource } from "../xds/resource.ts";

/** A cluster that has its load assignment in it, which streams have as a resource: apart, so that this is gone over once for both. */
export interface AssignmentApart {
  readonly assignment: object;
  /** The rest of the cluster. */
  readonly around: object;
}

/** @returns undefined for what has no load assignment as the last of its members, where the poll shape puts it */
export function assignmentApart(
  type: ResourceType,
  json: { readonly loadAssignment?: unknown },
): AssignmentApart | undefined {
  const assignment = type === "clusters" ? json.loadAssignment : undefined;
  if (typeof assignment !== "object" || assignment === null) return undefined;
  const { loadAssignment: _assignment, ...around } = json;
  const names = Object.keys(json);
  return names.length > 1 && names.at(-1) === "loadAssignment" ? { assignment, around } : undefined;
}

interface Assignment {
  readonly json: Resource["json"];
}

/** Whether Envoy takes a load assignment, for its form. */
export const isSoundAssignment = step(
  "checked load assignment",
  { json: "identity" },
  ({ json }: Assignment) => checkResource("endpoints", { name: "", json, from: [] }) === undefined,
);

const typed = { "@type": typeUrlOf("endpoints") };

/** As a resource is written. */
export const assignmentText = step("text of a load assignment", { json: "identity" }, ({ json }: Assignment) =>
  JSON.stringify({ ...typed, ...json }),
);

/** The same as a member of its cluster. */
export const memberText = (resourceText: string): string => `{${resourceText.slice(JSON.stringify(typed).length)}`;
