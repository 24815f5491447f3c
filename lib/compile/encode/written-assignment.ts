import { query } from "../../incremental/query.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { checkResource } from "../../xds/descriptors.ts";
import type { Resource } from "../../xds/resource.ts";
import { EvictableText, messageText } from "./evictable-text.ts";

/** A cluster and its inline load assignment, which streams serve as a resource of its own: split, so that it is encoded once for both. */
export interface SplitAssignment {
  readonly assignment: object;
  /** The rest of the cluster. */
  readonly around: object;
}

/** @returns undefined for what has no load assignment as the last of its members, where the poll shape puts it */
export function splitAssignment(
  type: ResourceType,
  json: { readonly loadAssignment?: unknown },
): SplitAssignment | undefined {
  const assignment = type === "clusters" ? json.loadAssignment : undefined;
  if (typeof assignment !== "object" || assignment === null) return undefined;
  const { loadAssignment: _assignment, ...around } = json;
  const names = Object.keys(json);
  return names.length > 1 && names.at(-1) === "loadAssignment" ? { assignment, around } : undefined;
}

/** What comes before the members of a load assignment: as long as that of one without any, whose bracket is a comma there. */
const headLength = messageText("endpoints", {}).length;

/** A load assignment as clusters that have it in them and the resource that it is have in common. */
export interface WrittenAssignment {
  /** As a resource is written. */
  readonly written: EvictableText;
  /** Whether Envoy takes it, for its form. */
  readonly isSound: boolean;
}

export const writtenAssignment = query(
  "written load assignment",
  ({ json }: { readonly json: Resource["json"] }): WrittenAssignment => ({
    isSound: checkResource("endpoints", { name: "", json, from: [] }) === undefined,
    written: new EvictableText("endpoints", json),
  }),
);

/** The text of a load assignment as a member of its cluster. */
export const memberText = (resourceText: string): string => `{${resourceText.slice(headLength)}`;
