/**
 * What follows on parts: on objects by their identity, on plain values by what they are. Mostly one part has something
 * behind it, so collections are made only when there is more: they cost the garbage collector far more than what is in them, weak
 * ones most of all.
 */
export class Fork<T extends Evictable> implements Evictable {
  /** The one part, as long as there is one. An object is held, so it may outlive its owner until a second comes. */
  only: unknown = undefined;
  afterOnly: T | undefined = undefined;
  /** Every part, once there were two. */
  byIdentity: WeakMap<object, T> | undefined = undefined;
  byValue: Map<unknown, T> | undefined = undefined;

  lastUse(): number {
    // What is behind an object goes with the object.
    if (this.byIdentity !== undefined) return Infinity;
    let last = this.afterOnly?.lastUse() ?? -1;
    for (const after of this.byValue?.values() ?? []) last = Math.max(last, after.lastUse());
    return last;
  }
}

/** What can be evicted from a table of plain values. */
export interface Evictable {
  /** Generation in which it, or anything behind it, was used last. */
  lastUse(): number;
}

/** The tables of plain values that have grown large, and how large they may become. */
export interface Tables {
  /** Values of one table. Beyond it those that were not used for longest are evicted, an eighth of the table at once. */
  readonly maxValues: number;
  large: WeakRef<Fork<Evictable>>[];
}

/** Smaller tables are not looked through: they go with the objects that they are about. */
const largeTable = 1024;

/** What is behind a part. */
export function behind<T extends Evictable>(fork: Fork<T>, part: unknown): T | undefined {
  if (fork.afterOnly !== undefined) return fork.only === part ? fork.afterOnly : undefined;
  return isObject(part) ? fork.byIdentity?.get(part) : fork.byValue?.get(part);
}

/** Puts something behind a part, in the place of what was there. @param tables undefined: what is put there lives as long as one call */
export function put<T extends Evictable>(fork: Fork<T>, part: unknown, after: T, tables: Tables | undefined): void {
  const { only, afterOnly, byIdentity, byValue } = fork;
  if (afterOnly === undefined && byIdentity === undefined && byValue === undefined) fork.only = part;
  else if (afterOnly === undefined || only !== part) {
    fork.only = undefined;
    fork.afterOnly = undefined;
    if (afterOnly !== undefined) collect(fork, only, afterOnly, tables);
    collect(fork, part, after, tables);
    return;
  }
  fork.afterOnly = after;
}

function collect<T extends Evictable>(fork: Fork<T>, part: unknown, after: T, tables: Tables | undefined): void {
  if (isObject(part)) {
    fork.byIdentity ??= new WeakMap();
    fork.byIdentity.set(part, after);
    return;
  }
  fork.byValue ??= new Map();
  const { byValue } = fork;
  if (tables !== undefined && byValue.size >= tables.maxValues && !byValue.has(part)) evictOldest(byValue);
  byValue.set(part, after);
  if (byValue.size === largeTable) tables?.large.push(new WeakRef<Fork<Evictable>>(fork));
}

/** Of values that were used in the same generation, those that came first. */
function evictOldest(table: Map<unknown, Evictable>): void {
  const parts = [...table].map(([part, after]) => ({ part, lastUse: after.lastUse() }));
  // Sorting keeps the order of those that are equal.
  parts.sort((a, b) => (a.lastUse < b.lastUse ? -1 : a.lastUse > b.lastUse ? 1 : 0));
  for (const { part } of parts.slice(0, Math.ceil(parts.length / 8))) table.delete(part);
}

/** Evicts from large tables what was used last before a generation. */
export function evictBefore(tables: Tables, generation: number): void {
  const seen = new Set<Fork<Evictable>>();
  for (const reference of tables.large) {
    const fork = reference.deref();
    if (fork === undefined || seen.has(fork)) continue;
    seen.add(fork);
    for (const [part, after] of fork.byValue ?? []) if (after.lastUse() < generation) fork.byValue?.delete(part);
  }
  tables.large = [...seen].filter(({ byValue }) => (byValue?.size ?? 0) >= largeTable).map((fork) => new WeakRef(fork));
}

const isObject = (part: unknown): part is object =>
  (typeof part === "object" && part !== null) || typeof part === "function";
