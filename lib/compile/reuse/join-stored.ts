import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { CompiledList, CompiledPart } from "../../snapshot/compiled.ts";
import { placeOfName } from "../../snapshot/nodes/name-search.ts";
import { isOfWorkload } from "../../snapshot/segment.ts";
import { slicePart } from "../encode/join-parts.ts";

/** The parts of a stored list that are of a class's own workload. */
export const ownPartsOf = (list: CompiledList): readonly CompiledPart[] =>
  list.filter((part) => isOfWorkload(part[0]?.name ?? ""));

interface Sides {
  /** What classes share, made anew. */
  readonly shared: CompiledList;
  /** Stored parts of the class's own, in the order of names. */
  readonly own: readonly CompiledPart[];
}

/**
 * One list of both, with the own parts where they belong by name.
 *
 * @returns undefined where a shared name lies among the own ones, which are not at hand to be parted
 */
export const joinStored = query(
  "parts joined with stored ones",
  { own: "elements" },
  ({ shared, own }: Sides, memo: Memo): CompiledList | undefined => {
    const first = own[0]?.[0]?.name;
    const last = own.at(-1)?.at(-1)?.name;
    if (first === undefined || last === undefined) return shared;
    const [part, ...more] = shared;
    if (part === undefined) return own;
    const place = placeOfName(part, first, ({ name }) => name);
    if (more.length > 0 || place !== placeOfName(part, last, ({ name }) => name)) return undefined;
    const before = place === 0 ? [] : [slicePart(memo, { shared: part, from: 0, to: place })];
    const after = place === part.length ? [] : [slicePart(memo, { shared: part, from: place, to: part.length })];
    return [...(place === part.length ? [part] : before), ...own, ...(place === 0 ? [part] : after)];
  },
);
