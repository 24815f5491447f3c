import { unknownYet } from "./cell.ts";
import type { Known, Memo } from "./memo.ts";
import { type Exceptions, InputReader } from "./query.ts";
import { Recorder } from "./recorder.ts";
import { findResult, Trace, type Traced } from "./trace.ts";
import { beginRecording, endRecording, touch, Use } from "./use.ts";
import { verify } from "./verify.ts";
import { type Answering, type Fields, watchedAtAll, watchedIn } from "./watched.ts";

export type { Question, Traced } from "./trace.ts";

/**
 * As `query`, for work that reads a little of something large: beside its inputs it is handed a source, and whatever it reads
 * there (fields, and answers of functions) is recorded. The result stands as long as the source gives the same answers to
 * the same questions; another source that does so gets the same object.
 *
 * The questions form a tree: which one comes next depends on the answers so far and on nothing else, since `make` sees
 * nothing else. So finding a result costs its questions, however many results there are.
 *
 * Answers count as inputs do: objects by identity, everything else by value. A source should answer with plain values or with
 * objects that stay; functions are called as the source's methods and may have any number of arguments.
 *
 * @param asked every field of the source, for a query that is made often: what it asks costs a tenth then of what it costs to watch any source
 */
export function trackedQuery<I extends object, S extends object, T>(
  name: string,
  make: MakeTracked<I, S, T>,
  asked?: Fields<S>,
): TrackedQuery<I, S, T>;
export function trackedQuery<I extends object, S extends object, T>(
  name: string,
  exceptions: Exceptions<I>,
  make: MakeTracked<I, S, T>,
  asked?: Fields<S>,
): TrackedQuery<I, S, T>;
export function trackedQuery<I extends object, S extends object, T>(
  name: string,
  ...rest: readonly unknown[]
): TrackedQuery<I, S, T> {
  // As one of the two signatures says it.
  const [exceptions, make, asked] = (typeof rest[0] === "function" ? [{}, ...rest] : rest) as Declared<I, S, T>;
  const traced: TracedMaker<I, S, T> = {
    name,
    reader: new InputReader<I>(name, exceptions),
    make,
    watched: asked === undefined ? watchedAtAll<S> : watchedIn(asked),
  };
  return (memo, inputs, source) => tracedBy(traced, memo, inputs, source);
}

type MakeTracked<I extends object, S extends object, T> = (inputs: I, source: S, memo: Memo) => T;

type Declared<I extends object, S extends object, T> = readonly [Exceptions<I>, MakeTracked<I, S, T>, Fields<S>?];

interface TracedMaker<I extends object, S extends object, T> {
  readonly name: string;
  readonly reader: InputReader<I>;
  readonly make: MakeTracked<I, S, T>;
  readonly watched: (answering: Answering) => S;
}

/** One function for all, as of queries. */
function tracedBy<I extends object, S extends object, T>(
  maker: TracedMaker<I, S, T>,
  memo: Memo,
  inputs: I,
  source: S,
): Traced<T> {
  const { name, reader, make, watched } = maker;
  const { known } = memo;
  if (known === undefined) {
    const recorder = new Recorder<S, T>(name, new Trace<T>(), source, undefined);
    return recorder.end(make(inputs, watched(recorder), memo), undefined);
  }
  const cell = reader.find(known, inputs);
  if (cell.value === unknownYet) cell.value = new Trace<T>();
  // A cell belongs to one query, and a query has one type of result.
  const trace = cell.value as Trace<T>;
  const found = findResult(trace, source);
  if (found?.result !== undefined) {
    known.hits += 1;
    if (known.verified !== undefined) verifyResult(known, maker, found, memo, inputs, source);
    if (cell.use !== undefined) touch(known, cell.use);
    if (found.use !== undefined) touch(known, found.use);
    return found.result;
  }
  known.misses += 1;
  const recorder = new Recorder(name, trace, source, known.tables);
  const use = new Use(known.generation);
  const outer = beginRecording(known);
  let value: T;
  try {
    value = make(inputs, watched(recorder), memo);
  } finally {
    use.beneath = endRecording(known, outer) ?? use.beneath;
  }
  if (reader.isEvictable) cell.use ??= new Use(known.generation);
  if (cell.use !== undefined) touch(known, cell.use);
  touch(known, use);
  return recorder.end(value, use);
}

/** Apart, as that of queries. */
function verifyResult<I extends object, S extends object, T>(
  known: Known,
  { name, make, watched }: TracedMaker<I, S, T>,
  found: Trace<T>,
  memo: Memo,
  inputs: I,
  source: S,
): void {
  verify(known, name, found, found.result?.value, () =>
    make(inputs, watched(new Recorder<S, T>(name, new Trace<T>(), source, undefined)), memo),
  );
}

export type TrackedQuery<I extends object, S extends object, T> = (memo: Memo, inputs: I, source: S) => Traced<T>;
