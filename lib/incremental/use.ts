/**
 * When a remembered result was used last, and what its body used. A result that is found again skips its body, so whatever the body
 * used would look unused: `touch` marks all of it. Counted in generations of some compiles, since few results are used in only one.
 *
 * It refers to no input and no result, so it keeps none of them in memory.
 */
export class Use {
  generation: number;
  /** What the body used; undefined where an element of a list used nothing that can be evicted. */
  beneath: readonly (Use | undefined)[] = nothing;
  /** The recording that noted it last: one note is enough. */
  notedIn = 0;

  constructor(generation: number) {
    this.generation = generation;
  }
}

const nothing: readonly never[] = [];

/** What a memo has to know to evict what is no longer used. */
export interface Uses {
  /** Now. */
  generation: number;
  /** What the body that runs now has used so far; undefined outside of bodies. */
  recording: Recording | undefined;
  recordings: number;
}

export interface Recording {
  readonly number: number;
  uses: Use[] | undefined;
}

/** Marks a result as used now, with everything that it was made with. Once in a generation it costs something. */
export function touch(uses: Uses, use: Use): void {
  const { recording, generation } = uses;
  if (recording !== undefined && use.notedIn !== recording.number) {
    use.notedIn = recording.number;
    recording.uses ??= [];
    recording.uses.push(use);
  }
  if (use.generation === generation) return;
  use.generation = generation;
  // Not by recursion: results are made of others to any depth.
  const open = [use];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const below of next.beneath) {
      if (below === undefined || below.generation === generation) continue;
      below.generation = generation;
      open.push(below);
    }
  }
}

/** Begins to note what a body uses. @returns what `endRecording` is given, also where the body throws */
export function beginRecording(uses: Uses): Recording | undefined {
  const outer = uses.recording;
  uses.recordings += 1;
  uses.recording = { number: uses.recordings, uses: undefined };
  return outer;
}

/** @returns what the body used; undefined: nothing that can be evicted */
export function endRecording(uses: Uses, outer: Recording | undefined): readonly Use[] | undefined {
  const used = uses.recording?.uses;
  uses.recording = outer;
  return used;
}

/** One use for all that a body used. */
export function useOf(uses: Uses, used: readonly Use[] | undefined): Use | undefined {
  if (used === undefined || used.length === 1) return used?.[0];
  const use = new Use(uses.generation);
  use.beneath = used;
  return use;
}

/** Runs the body of one element of many. @param uses undefined where nothing is remembered */
export function withUse<T>(
  uses: Uses | undefined,
  body: () => T,
): { readonly value: T; readonly use: Use | undefined } {
  if (uses === undefined) return { value: body(), use: undefined };
  const outer = beginRecording(uses);
  try {
    const value = body();
    return { value, use: useOf(uses, uses.recording?.uses) };
  } finally {
    endRecording(uses, outer);
  }
}
