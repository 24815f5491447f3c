import type { Diagnostic } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { oneList } from "../mesh/memo/same.ts";
import { step } from "../mesh/memo/step.ts";
import { cutEvenly } from "../snapshot/long/cut-evenly.ts";
import { listMessage, nameOf } from "../snapshot/long/pieces.ts";
import { nameHash } from "../snapshot/name-hash.ts";
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
    stretchesOf(memo, { elements }).every((stretch) => allFit(memo, { type, field, stretch })) &&
    checkResource(type, around) === undefined;
  // The whole says where in it something is wrong.
  return isSound ? undefined : checkResource(type, resource);
}

/** About so many elements make a stretch. */
const stretchLength = 16;

/**
 * A long list in stretches, each of which is looked up as one from then on: of the lists that a change makes anew, most have nearly all of
 * their stretches already. Where one ends follows from the names of its elements.
 */
export const stretchesOf = step(
  "stretches of elements",
  { elements: "identity" },
  ({ elements }: { readonly elements: readonly object[] }, memo: Memo): readonly (readonly object[])[] =>
    cutEvenly(elements, stretchLength, byElement).map((stretch) => oneList(memo, stretch)),
);

const byElement = { weight: () => 1, hash: (element: object) => nameHash(nameOf(element)) };

interface Place {
  readonly type: ResourceType;
  readonly field: string;
}

const allFit = step(
  "checked stretch of elements",
  { type: "value", field: "value", stretch: "identity" },
  ({ stretch, ...place }: Place & { readonly stretch: readonly object[] }, memo: Memo) =>
    stretch.every((element) => fits(memo, { ...place, element })),
);

const fits = step(
  "checked element",
  { type: "value", field: "value", element: "identity" },
  ({ type, field, element }: Place & { readonly element: object }) => fitsElement(type, field, element),
);
