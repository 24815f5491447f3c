import type { Resource } from "../../gen/istio/mcp/v1alpha1/resource_pb.ts";
import { decodeResource, type McpObject } from "./decode.ts";
import type { McpKind } from "./kinds.ts";

/** A push for one subscription: a collection, or a type over xDS. */
export interface McpPush {
  readonly subscription: string;
  readonly resources: readonly Resource[];
  /** Names; counts with `isIncremental` only. */
  readonly removed: readonly string[];
  /** What is not named stays; otherwise it is gone. */
  readonly isIncremental: boolean;
  /** Why the resources could not even be told apart; absent: they could. */
  readonly problem?: string;
}

/** The resources of one subscription, by the source's names. */
export type CollectionState = ReadonlyMap<string, McpObject>;

export interface Applied {
  readonly held: CollectionState;
  /** Resources that were left out, each with its reason. */
  readonly warnings: readonly string[];
  /** Why the push was refused as a whole, so that nothing of it counts; absent: it was not. */
  readonly refused?: string;
}

export interface ApplyOptions {
  readonly kind: McpKind;
  readonly needsNamespace: boolean;
}

/**
 * What is held after a push. A source decides with each push whether it brings everything or increments. A resource that cannot be
 * decoded keeps the form that is held. One that is not valid is held: the collector keeps its last valid form beside it.
 */
export function applyPush(before: CollectionState, push: McpPush, { kind, needsNamespace }: ApplyOptions): Applied {
  if (push.problem !== undefined) return { held: before, warnings: [], refused: push.problem };
  const held = new Map(push.isIncremental ? before : []);
  const warnings: string[] = [];
  for (const name of push.isIncremental ? push.removed : []) held.delete(name);
  for (const resource of push.resources) {
    const decoded = decodeResource(kind, resource, needsNamespace);
    if (decoded.kind === "refused") return { held: before, warnings: [], refused: decoded.reason };
    const known = before.get(resource.metadata?.name ?? "");
    if (decoded.kind === "dropped") {
      warnings.push(decoded.reason);
      if (known !== undefined) held.set(known.name, known);
    } else held.set(decoded.value.name, decoded.value);
  }
  return { held, warnings };
}
