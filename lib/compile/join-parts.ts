import type { Memo } from "../mesh/memo/memo.ts";
import { step } from "../mesh/memo/step.ts";
import type { CompiledList, CompiledPart, CompiledResource } from "../snapshot/compiled.ts";
import { placeOfName } from "../snapshot/name-search.ts";

interface Sides {
  readonly shared: CompiledPart;
  readonly own: CompiledPart;
}

/**
 * One list of what classes share and of what one class has besides. The shared side is cut where own resources stand in the order of
 * names, and all classes that cut it there have the same pieces.
 */
export const joinParts = step(
  "joined parts",
  { shared: "identity", own: "identity" },
  ({ shared, own }: Sides, memo: Memo): CompiledList => {
    const list: CompiledPart[] = [];
    let from = 0;
    let run: CompiledResource[] = [];
    const addShared = (to: number): void => {
      if (to > from) list.push(from === 0 && to === shared.length ? shared : slicePart(memo, { shared, from, to }));
      from = Math.max(from, to);
    };
    for (const resource of own) {
      const place = placeOfName(shared, resource.name, ({ name }) => name);
      if (place > from && run.length > 0) {
        list.push(run);
        run = [];
      }
      addShared(place);
      run.push(resource);
    }
    if (run.length > 0) list.push(run.length === own.length ? own : run);
    addShared(shared.length);
    return list;
  },
);

interface Cut {
  readonly shared: CompiledPart;
  readonly from: number;
  readonly to: number;
}

/** A piece of a part, which all lists that are cut there share. */
export const slicePart = step(
  "slice of a part",
  { shared: "identity", from: "value", to: "value" },
  ({ shared, from, to }: Cut): CompiledPart => shared.slice(from, to),
);
