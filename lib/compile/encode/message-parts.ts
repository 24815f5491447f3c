import type { Memo } from "../../incremental/memo.ts";
import { listedElements, listMessage, messageAround } from "../../snapshot/long/cut-chunks.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import { lazyFieldOf } from "../../xds/lazy-field.ts";
import type { Resource } from "../../xds/resource.ts";
import { type CutMessage, cutMessage, manyElements } from "./message-runs.ts";
import { splitAssignment, type WrittenAssignment, writtenAssignment } from "./written-assignment.ts";

/** How a resource is written. */
export interface WrittenAs {
  readonly type: ResourceType;
  readonly withBinary: boolean;
}

/** What of a message is gone over apart, once for all messages that have it. It is looked for once, to be checked and to be written. */
export type MessageParts =
  | { readonly kind: "whole" }
  | {
      readonly kind: "assignment";
      readonly assignment: WrittenAssignment;
      /** The cluster that holds it, without it; undefined: it is the message. */
      readonly around: object | undefined;
    }
  | { readonly kind: "cut"; readonly cut: CutMessage };

const whole: MessageParts = { kind: "whole" };

export function partsOf(
  { name, json }: Pick<Resource, "name" | "json">,
  { type, withBinary }: WrittenAs,
  memo: Memo,
): MessageParts {
  if (type === "endpoints")
    return { kind: "assignment", assignment: writtenAssignment(memo, { json }), around: undefined };
  const apart = splitAssignment(type, json);
  if (apart !== undefined) {
    const assignment = writtenAssignment(memo, { json: apart.assignment });
    return { kind: "assignment", assignment, around: apart.around };
  }
  const list = lazyFieldOf(json);
  if ((list?.elements ?? listedElements(type, json)).length < manyElements) return whole;
  const message = list === undefined ? listMessage(type, json) : messageAround(type, list);
  return message === undefined ? whole : { kind: "cut", cut: cutMessage({ type, name, message, withBinary }, memo) };
}
