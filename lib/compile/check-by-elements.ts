import type { Diagnostic } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { listMessage } from "../snapshot/long/pieces.ts";
import type { ResourceType } from "../snapshot/resource-type.ts";
import { checkResource, type Reader } from "../xds/descriptors.ts";
import type { Resource } from "../xds/resource.ts";
import { assignmentApart, writtenAssignment } from "./assignment-apart.ts";
import { cutMessage, manyElements } from "./message-runs.ts";

/** For whom a resource is checked, and how it is written then. */
export interface CheckedFor {
  readonly type: ResourceType;
  readonly reader: Reader;
  readonly withBinary: boolean;
}

/** As `checkResource`; of a message with a long list each element is checked once, whichever messages have it, and so is a load assignment. */
export function checkByElements(
  resource: Resource,
  { type, reader, withBinary }: CheckedFor,
  memo: Memo,
): Diagnostic | undefined {
  // Parts are remembered as Envoy takes them; what programs read is small. The whole says where in it something is wrong.
  return reader === "envoy" && isSoundInParts(resource, { type, withBinary }, memo)
    ? undefined
    : checkResource(type, resource, reader);
}

/** @returns false, too, for what has no parts that are worth remembering */
function isSoundInParts(resource: Resource, { type, withBinary }: Omit<CheckedFor, "reader">, memo: Memo): boolean {
  const { name, json } = resource;
  if (type === "endpoints") return writtenAssignment(memo, { json }).isSound;
  const isSound = (around: object): boolean => checkResource(type, { ...resource, json: around }) === undefined;
  const apart = assignmentApart(type, json);
  if (apart !== undefined) return writtenAssignment(memo, { json: apart.assignment }).isSound && isSound(apart.around);
  const message = listMessage(type, json);
  if (message === undefined || message.elements.length < manyElements) return false;
  const { runs } = cutMessage({ type, name, message, withBinary }, memo);
  return runs.every(({ made }) => made.isSound) && isSound({ ...json, [message.field]: [] });
}
