import { unknownYet } from "./cell.ts";
import type { Memo } from "./memo.ts";
import { Recorder } from "./recorder.ts";
import { type InputKinds, InputReader } from "./step.ts";
import { findResult, Trace, type Traced } from "./trace.ts";
import { type Answering, type Fields, watchedAtAll, watchedIn } from "./watched.ts";

export type { Question, Traced } from "./trace.ts";

/**
 * As `step`, for work that reads a little of something large: beside its inputs it is handed a source, and whatever it reads
 * there (fields, and answers of functions) is recorded. The result stands as long as the source gives the same answers to
 * the same questions; another source that does so gets the same object.
 *
 * The questions form a tree: which one comes next depends on the answers so far and on nothing else, since `make` sees
 * nothing else. So finding a result costs its questions, however many results there are.
 *
 * Answers count as inputs do: objects by identity, everything else by value. A source should answer with plain values or with
 * objects that stay; functions are called as the source's methods and may have any number of arguments.
 *
 * @param asked every field of the source, for a step that is made often: what it asks costs a tenth then of what it costs to watch any source
 */
export function tracedStep<I extends object, S extends object, T>(
  name: string,
  kinds: InputKinds<I>,
  make: (inputs: I, source: S, memo: Memo) => T,
  asked?: Fields<S>,
): TracedStep<I, S, T> {
  const traced: TracedMaker<I, S, T> = {
    name,
    reader: new InputReader(name, kinds),
    make,
    watched: asked === undefined ? watchedAtAll<S> : watchedIn(asked),
  };
  return (memo, inputs, source) => tracedBy(traced, memo, inputs, source);
}

interface TracedMaker<I extends object, S extends object, T> {
  readonly name: string;
  readonly reader: InputReader<I>;
  readonly make: (inputs: I, source: S, memo: Memo) => T;
  readonly watched: (answering: Answering) => S;
}

/** One function for all, as of steps. */
function tracedBy<I extends object, S extends object, T>(
  maker: TracedMaker<I, S, T>,
  memo: Memo,
  inputs: I,
  source: S,
): Traced<T> {
  const { reader } = maker;
  if (memo.known === undefined) return recorded(maker, new Trace<T>(), { inputs: reader.own(inputs), source, memo });
  const cell = reader.find(memo.known, inputs);
  if (cell.value === unknownYet) cell.value = new Trace<T>();
  // A cell belongs to one step, and a step has one type of result.
  const trace = cell.value as Trace<T>;
  const found = findResult(trace, source);
  if (found !== undefined) {
    memo.known.hits += 1;
    return found;
  }
  memo.known.misses += 1;
  return recorded(maker, trace, { inputs: reader.ownAt(cell, inputs), source, memo });
}

function recorded<I extends object, S extends object, T>(
  { name, make, watched }: TracedMaker<I, S, T>,
  trace: Trace<T>,
  { inputs, source, memo }: { readonly inputs: I; readonly source: S; readonly memo: Memo },
): Traced<T> {
  const recorder = new Recorder(name, trace, source);
  return recorder.end(make(inputs, watched(recorder), memo));
}

export type TracedStep<I extends object, S extends object, T> = (memo: Memo, inputs: I, source: S) => Traced<T>;
