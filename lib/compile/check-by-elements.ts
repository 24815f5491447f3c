import type { Diagnostic } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { step } from "../mesh/memo/step.ts";
import { listMessage } from "../snapshot/long/pieces.ts";
import type { ResourceType } from "../snapshot/resource-type.ts";
import { checkResource, fitsElement, type Reader } from "../xds/descriptors.ts";
import type { Resource } from "../xds/resource.ts";

/** Lists from this length on are gone over element by element, each of which is remembered: shorter ones cost less than that. */
export const manyElements = 32;

/** As `checkResource`; of a message with a long list each element is checked once, whichever messages have it. */
export function checkByElements(
  type: ResourceType,
  resource: Resource,
  memo: Memo,
  reader: Reader = "envoy",
): Diagnostic | undefined {
  const message = listMessage(type, resource.json);
  // Elements are remembered as Envoy takes them; what programs read is small.
  if (message === undefined || message.elements.length < manyElements || reader !== "envoy")
    return checkResource(type, resource, reader);
  const { field, elements } = message;
  const around = { ...resource, json: { ...resource.json, [field]: [] } };
  const isSound =
    elements.every((element) => fits(memo, { type, field, element })) && checkResource(type, around) === undefined;
  // The whole says where in it something is wrong.
  return isSound ? undefined : checkResource(type, resource);
}

interface Element {
  readonly type: ResourceType;
  readonly field: string;
  readonly element: object;
}

const fits = step(
  "checked element",
  { type: "value", field: "value", element: "identity" },
  ({ type, field, element }: Element) => fitsElement(type, field, element),
);
