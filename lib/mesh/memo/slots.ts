import { type KindOfSlots, type LastMade, type Memo, numberOf, type Slot } from "./memo.ts";

export type { Slot } from "./memo.ts";

const nameOf = (slot: Slot): string => (typeof slot === "string" ? slot : slot());

/** Compiles after which what nobody asked for again is forgotten. */
const retainedRounds = 64;

/** Begins a compile: names that went out of use long ago (classes of workloads that are gone) give up what they hold. */
export function beginRound({ known }: Memo): void {
  if (known === undefined) return;
  known.round += 1;
  if (known.round % retainedRounds !== 0) return;
  const isStale = ({ usedInRound }: LastMade): boolean => usedInRound < known.round - retainedRounds;
  for (const kind of known.last) {
    if (kind?.only !== undefined && isStale(kind.only)) kind.only = undefined;
    for (const [name, made] of kind?.byName ?? []) if (isStale(made)) kind?.byName?.delete(name);
  }
}

/** What was made last in each slot of a kind. */
export class Slots<T> {
  readonly #number: number;

  /** @param kind no other may have its name */
  constructor(kind: string) {
    this.#number = numberOf(`last: ${kind}`);
  }

  /** Marks it as used. */
  last({ known }: Memo, slot: Slot): T | undefined {
    const kind = known?.last[this.#number];
    const made = kind && find(kind, slot);
    if (known === undefined || made === undefined) return undefined;
    made.usedInRound = known.round;
    // Nothing else is kept in slots of this kind.
    return made.value as T;
  }

  keep({ known }: Memo, slot: Slot, value: T): void {
    if (known === undefined) return;
    const kind = known.last[this.#number] ?? { only: undefined, byName: undefined };
    known.last[this.#number] = kind;
    put(kind, slot, { value, usedInRound: known.round });
  }
}

function find({ only, byName }: KindOfSlots, slot: Slot): LastMade | undefined {
  if (only === undefined) return byName?.get(nameOf(slot));
  return isSameSlot(only.slot, slot) ? only : undefined;
}

function put(kind: KindOfSlots, slot: Slot, { value, usedInRound }: LastMade): void {
  const { only } = kind;
  if (kind.byName === undefined && (only === undefined || isSameSlot(only.slot, slot))) {
    kind.only = { slot, value, usedInRound };
    return;
  }
  kind.byName ??= new Map();
  if (only !== undefined) kind.byName.set(nameOf(only.slot), { value: only.value, usedInRound: only.usedInRound });
  kind.only = undefined;
  kind.byName.set(nameOf(slot), { value, usedInRound });
}

const isSameSlot = (a: Slot, b: Slot): boolean => a === b || nameOf(a) === nameOf(b);
