import { evictBefore } from "./fork.ts";
import { type EntriesOfKind, type EntryName, type LastMade, type Memo, numberOf } from "./memo.ts";
import { touch, Use } from "./use.ts";

export type { EntryName } from "./memo.ts";

const nameOf = (entry: EntryName): string => (typeof entry === "string" ? entry : entry());

/** Compiles of one generation. */
const generationRevisions = 16;

/** Generations after whose end what was not used in any of them is evicted. */
const retainedGenerations = 4;

/** Begins a compile: what went out of use long ago (classes of workloads that are gone) gives up what it holds. */
export function beginRevision({ known }: Memo): void {
  if (known === undefined) return;
  known.revision += 1;
  if (known.verified !== undefined) known.verified = new WeakSet();
  if (known.revision % generationRevisions !== 0) return;
  known.generation += 1;
  const oldest = known.generation - retainedGenerations;
  evictBefore(known.tables, oldest);
  for (const kind of known.last) if (kind !== undefined) evictEntries(kind, oldest);
}

function evictEntries(kind: EntriesOfKind, oldest: number): void {
  if (kind.only !== undefined && kind.only.use.generation < oldest) kind.only = undefined;
  for (const [name, made] of kind.byName ?? []) if (made.use.generation < oldest) kind.byName?.delete(name);
}

/** What was made last in each entry of a kind. */
export class CacheEntries<T> {
  readonly #number: number;

  /** @param kind no other may have its name */
  constructor(kind: string) {
    this.#number = numberOf(`last: ${kind}`);
  }

  /** Marks it as used. */
  last({ known }: Memo, entry: EntryName): T | undefined {
    const kind = known?.last[this.#number];
    const made = kind && find(kind, entry);
    if (known === undefined || made === undefined) return undefined;
    touch(known, made.use);
    // Nothing else is kept in entries of this kind.
    return made.value as T;
  }

  /** @param beneath what the elements of the value were made with */
  keep({ known }: Memo, entry: EntryName, value: T, beneath?: readonly (Use | undefined)[]): void {
    if (known === undefined) return;
    const kind = known.last[this.#number] ?? { only: undefined, byName: undefined };
    known.last[this.#number] = kind;
    const made = find(kind, entry) ?? add(kind, entry, new Use(known.generation));
    made.value = value;
    if (beneath !== undefined) made.use.beneath = beneath;
    touch(known, made.use);
  }
}

function find({ only, byName }: EntriesOfKind, entry: EntryName): LastMade | undefined {
  if (only === undefined) return byName?.get(nameOf(entry));
  return isSameEntry(only.entry, entry) ? only : undefined;
}

function add(kind: EntriesOfKind, entry: EntryName, use: Use): LastMade {
  const { only } = kind;
  if (kind.byName === undefined && only === undefined) {
    kind.only = { entry, value: undefined, use };
    return kind.only;
  }
  kind.byName ??= new Map();
  if (only !== undefined) kind.byName.set(nameOf(only.entry), { value: only.value, use: only.use });
  kind.only = undefined;
  const made = { value: undefined, use };
  kind.byName.set(nameOf(entry), made);
  return made;
}

const isSameEntry = (a: EntryName, b: EntryName): boolean => a === b || nameOf(a) === nameOf(b);
