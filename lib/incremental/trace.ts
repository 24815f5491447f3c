import { behind, Fork, put, type Tables } from "./fork.ts";
import type { Use } from "./use.ts";

/** A result, and the questions whose answers it depends on, in the order in which they were asked. */
export interface Traced<T> {
  readonly value: T;
  readonly questions: readonly Question[];
}

/** A question to a source: a field, or a call of a function. */
export interface Question {
  readonly field: PropertyKey;
  /** Undefined: the field itself. */
  readonly args: readonly unknown[] | undefined;
}

/** What is asked after some answers, and where each answer leads. */
export class Trace<T> extends Fork<Trace<T>> {
  /** Undefined where no further question was asked. */
  question: Question | undefined = undefined;
  result: Traced<T> | undefined = undefined;
  /** Of the result. */
  use: Use | undefined = undefined;

  override lastUse(): number {
    return Math.max(this.use?.generation ?? -1, super.lastUse());
  }
}

/** Where an answer leads. */
export function enter<T>(trace: Trace<T>, answer: unknown, tables: Tables | undefined): Trace<T> {
  const known = behind(trace, answer);
  if (known !== undefined) return known;
  const made = new Trace<T>();
  put(trace, answer, made, tables);
  return made;
}

/** The value of a field; the source's own word for what nobody else may change. */
export const fieldOf = (source: object, field: PropertyKey): unknown => Reflect.get(source, field);

const ask = (source: object, question: Question): unknown =>
  answerOf(source, fieldOf(source, question.field), question);

/** @param value of the question's field */
export const answerOf = (source: object, value: unknown, { args }: Question): unknown =>
  args === undefined || typeof value !== "function" ? value : Reflect.apply(value, source, args);

/** @returns the end of the trace that leads to a result */
export function findResult<T>(start: Trace<T>, source: object): Trace<T> | undefined {
  let trace = start;
  while (trace.result === undefined) {
    if (trace.question === undefined) return undefined;
    const next = behind(trace, ask(source, trace.question));
    if (next === undefined) return undefined;
    trace = next;
  }
  return trace;
}
