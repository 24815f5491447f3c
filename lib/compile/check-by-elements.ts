import type { Diagnostic } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { oneList, oneOfLists } from "../mesh/memo/same.ts";
import { step } from "../mesh/memo/step.ts";
import { cutEvenly } from "../snapshot/long/cut-evenly.ts";
import { listMessage, nameOf } from "../snapshot/long/pieces.ts";
import { nameHash } from "../snapshot/name-hash.ts";
import type { ResourceType } from "../snapshot/resource-type.ts";
import { checkResource, fitsElement, type Reader } from "../xds/descriptors.ts";
import type { Resource } from "../xds/resource.ts";
import { assignmentApart, writtenAssignment } from "./assignment-apart.ts";

/** Lists from this length on are gone over element by element, each of which is remembered: shorter ones cost less than that. */
export const manyElements = 32;

/** As `checkResource`; of a message with a long list each element is checked once, whichever messages have it, and so is a load assignment. */
export function checkByElements(
  type: ResourceType,
  resource: Resource,
  memo: Memo,
  reader: Reader = "envoy",
): Diagnostic | undefined {
  // Parts are remembered as Envoy takes them; what programs read is small. The whole says where in it something is wrong.
  return reader === "envoy" && isSoundInParts(type, resource, memo) ? undefined : checkResource(type, resource, reader);
}

/** @returns false, too, for what has no parts that are worth remembering */
function isSoundInParts(type: ResourceType, resource: Resource, memo: Memo): boolean {
  const { json } = resource;
  if (type === "endpoints") return writtenAssignment(memo, { json }).isSound;
  const isSound = (around: object): boolean => checkResource(type, { ...resource, json: around }) === undefined;
  const apart = assignmentApart(type, json);
  if (apart !== undefined) return writtenAssignment(memo, { json: apart.assignment }).isSound && isSound(apart.around);
  const message = listMessage(type, json);
  if (message === undefined || message.elements.length < manyElements) return false;
  const { field, elements } = message;
  return (
    stretchesOf(memo, { elements }).stretches.every((stretch) => allFit(memo, { type, field, stretch })) &&
    isSound({ ...json, [field]: [] })
  );
}

/** About so many elements make a stretch. */
const stretchLength = 16;

interface Stretches {
  /** Of all elements; the same list for all that have the same names. */
  readonly names: readonly string[];
  readonly stretches: readonly (readonly object[])[];
}

/**
 * A long list in stretches, each of which is looked up as one from then on: of the lists that a change makes anew, most have nearly all of
 * their stretches already. Where one ends follows from the names of its elements, which as a rule all such lists have in common.
 */
export const stretchesOf = step(
  "stretches of elements",
  { elements: "identity" },
  ({ elements }: { readonly elements: readonly object[] }, memo: Memo): Stretches => {
    const names = oneOfLists(memo, "names of elements", elements.map(nameOf));
    const ends = endsOfStretches(memo, { names });
    return { names, stretches: ends.map((to, at) => oneList(memo, elements.slice(ends[at - 1] ?? 0, to))) };
  },
);

const endsOfStretches = step(
  "ends of stretches",
  { names: "identity" },
  ({ names }: { readonly names: readonly string[] }): readonly number[] => {
    let end = 0;
    return cutEvenly(names, stretchLength, byName).map(({ length }) => (end += length));
  },
);

const byName = { weight: () => 1, hash: nameHash };

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
