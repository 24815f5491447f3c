import type { Diagnostic } from "../base/diagnostic.ts";
import type { Reader } from "../descriptors/messages.ts";
import type { Memo } from "../incremental/memo.ts";
import type { ResourceType } from "../snapshot/resource-type.ts";
import { checkResource } from "../xds/descriptors.ts";
import type { Resource } from "../xds/resource.ts";
import { type MessageParts, partsOf, type WrittenAs } from "./encode/message-parts.ts";

/** For whom a resource is checked, and how it is written then. */
export interface CheckedFor extends WrittenAs {
  readonly reader: Reader;
}

/**
 * As `checkResource`; of a message with a long list each element is checked once, whichever messages have it, and so is a load assignment.
 *
 * @param parts of the resource, where they are known
 */
export function checkByElements(
  resource: Resource,
  as: CheckedFor,
  memo: Memo,
  parts: MessageParts = partsOf(resource, as, memo),
): Diagnostic | undefined {
  // Parts are remembered as Envoy takes them; what programs read is small. The whole says where in it something is wrong.
  return as.reader === "envoy" && isSoundInParts(resource, as.type, parts)
    ? undefined
    : checkResource(as.type, resource, as.reader);
}

/** @returns false, too, for what has no parts that are worth remembering */
function isSoundInParts(resource: Resource, type: ResourceType, parts: MessageParts): boolean {
  const isSound = (around: object): boolean => checkResource(type, { ...resource, json: around }) === undefined;
  switch (parts.kind) {
    case "whole":
      return false;
    case "assignment":
      return parts.assignment.isSound && (parts.around === undefined || isSound(parts.around));
    case "cut": {
      const { runs, message } = parts.cut;
      return runs.every(({ made }) => made.isSound) && isSound(message.around);
    }
  }
}
