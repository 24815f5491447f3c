/**
 * What follows on parts: on objects by their identity, on plain values by what they are. Mostly one part has something
 * behind it, so collections are made only when there is more: they cost the garbage collector far more than what is in them, weak
 * ones most of all.
 */
export class Fork<T> {
  /** The one part, as long as there is one. An object is held, so it may outlive its owner until a second comes. */
  only: unknown = undefined;
  afterOnly: T | undefined = undefined;
  /** Every part, once there were two. */
  byIdentity: WeakMap<object, T> | undefined = undefined;
  byValue: Map<unknown, T> | undefined = undefined;
}

/** What is behind a part. */
export function behind<T>(fork: Fork<T>, part: unknown): T | undefined {
  if (fork.afterOnly !== undefined) return fork.only === part ? fork.afterOnly : undefined;
  return isObject(part) ? fork.byIdentity?.get(part) : fork.byValue?.get(part);
}

/**
 * Puts something behind a part, in the place of what was there.
 *
 * @param maxValues plain values that the fork keeps; beyond it starts anew
 */
export function put<T>(fork: Fork<T>, part: unknown, after: T, maxValues = 16_384): void {
  const { only, afterOnly, byIdentity, byValue } = fork;
  if (afterOnly === undefined && byIdentity === undefined && byValue === undefined) fork.only = part;
  else if (afterOnly === undefined || only !== part) {
    fork.only = undefined;
    fork.afterOnly = undefined;
    if (afterOnly !== undefined) collect(fork, only, afterOnly, maxValues);
    collect(fork, part, after, maxValues);
    return;
  }
  fork.afterOnly = after;
}

function collect<T>(fork: Fork<T>, part: unknown, after: T, maxValues: number): void {
  if (isObject(part)) {
    fork.byIdentity ??= new WeakMap();
    fork.byIdentity.set(part, after);
  } else {
    if (fork.byValue === undefined || fork.byValue.size >= maxValues) fork.byValue = new Map();
    fork.byValue.set(part, after);
  }
}

const isObject = (part: unknown): part is object =>
  (typeof part === "object" && part !== null) || typeof part === "function";
