import type { Tables } from "./fork.ts";
import { answerOf, enter, fieldOf, type Question, type Trace, type Traced } from "./trace.ts";
import type { Use } from "./use.ts";
import type { Answering } from "./watched.ts";

/** The answers to one field, so that a question is recorded once. */
interface Asked {
  /** Whether the field itself was asked for, or its function without arguments. */
  isAnswered: boolean;
  answer: unknown;
  byArgument: Map<unknown, Asked> | undefined;
}

const nothingAsked = (): Asked => ({ isAnswered: false, answer: undefined, byArgument: undefined });

function behindArgument(asked: Asked, argument: unknown): Asked {
  asked.byArgument ??= new Map();
  let next = asked.byArgument.get(argument);
  if (next === undefined) {
    next = nothingAsked();
    asked.byArgument.set(argument, next);
  }
  return next;
}

/** A field is a function or is none, as long as its source is the same. */
function entryOf(asked: Map<PropertyKey, Asked>, field: PropertyKey, args: readonly unknown[] | undefined): Asked {
  let entry = asked.get(field);
  if (entry === undefined) {
    entry = nothingAsked();
    asked.set(field, entry);
  }
  if (args !== undefined) for (const argument of args) entry = behindArgument(entry, argument);
  return entry;
}

const noQuestions: readonly [] = [];

/** So many questions are looked through one after the other. */
const fewQuestions = 8;

/** One run of a query: answers what `make` asks, notes every question, and puts the result behind them. */
export class Recorder<S extends object, T> implements Answering {
  readonly query: string;
  readonly #source: S;
  #trace: Trace<T>;
  /** Undefined as long as nothing was asked, which for many runs is all there is. */
  #questions: Question[] | undefined;
  #answers: unknown[] | undefined;
  /** Undefined as long as there are few: collections are costly, as in the memo. */
  #asked: Map<PropertyKey, Asked> | undefined;

  readonly #tables: Tables | undefined;

  /** @param tables undefined where nothing is remembered */
  constructor(query: string, start: Trace<T>, source: S, tables: Tables | undefined) {
    this.query = query;
    this.#tables = tables;
    this.#trace = start;
    this.#source = source;
  }

  answer(field: PropertyKey): unknown {
    // Worked out once: what a field says may be costly to say.
    const value = fieldOf(this.#source, field);
    if (typeof value !== "function") return this.#answerTo(field, undefined, value);
    // Much of what is asked is asked again at once.
    let last: { readonly argument: unknown; readonly answer: unknown } | undefined;
    return (...args: readonly unknown[]) => {
      if (last !== undefined && args.length === 1 && Object.is(args[0], last.argument)) return last.answer;
      const answer = this.#answerTo(field, args, value);
      if (args.length === 1) last = { argument: args[0], answer };
      return answer;
    };
  }

  end(value: T, use: Use | undefined): Traced<T> {
    this.#trace.use = use;
    const result = { value, questions: this.#questions ?? noQuestions };
    this.#trace.result = result;
    return result;
  }

  /** @param value of the field */
  #answerTo(field: PropertyKey, args: readonly unknown[] | undefined, value: unknown): unknown {
    if (this.#asked !== undefined) return this.#answerOf(this.#asked, { field, args }, value);
    this.#questions ??= [];
    this.#answers ??= [];
    for (let at = 0; at < this.#questions.length; at++) {
      if (asksFor(this.#questions[at], field, args)) return this.#answers[at];
    }
    const answer = this.#ask({ field, args }, value);
    this.#answers.push(answer);
    if (this.#questions.length === fewQuestions) this.#asked = this.#indexed(this.#questions, this.#answers);
    return answer;
  }

  #indexed(questions: readonly Question[], answers: readonly unknown[]): Map<PropertyKey, Asked> {
    const asked = new Map<PropertyKey, Asked>();
    for (const [at, { field, args }] of questions.entries()) {
      const entry = entryOf(asked, field, args);
      entry.isAnswered = true;
      entry.answer = answers[at];
    }
    return asked;
  }

  #answerOf(asked: Map<PropertyKey, Asked>, question: Question, value: unknown): unknown {
    const entry = entryOf(asked, question.field, question.args);
    if (!entry.isAnswered) {
      entry.answer = this.#ask(question, value);
      entry.isAnswered = true;
    }
    return entry.answer;
  }

  #ask(question: Question, value: unknown): unknown {
    const trace = this.#trace;
    if (trace.result !== undefined || !isSame(trace.question, question)) {
      throw new Error(`query ${this.query} asks otherwise after the same answers: ${String(question.field)}`);
    }
    trace.question = question;
    this.#questions?.push(question);
    const answer = answerOf(this.#source, value, question);
    this.#trace = enter(trace, answer, this.#tables);
    return answer;
  }
}

/** Whether a question is the one that stands there, or the first one. */
function isSame(known: Question | undefined, { field, args }: Question): boolean {
  return known === undefined || asksFor(known, field, args);
}

function asksFor(known: Question | undefined, field: PropertyKey, args: readonly unknown[] | undefined): boolean {
  if (known?.field !== field || known.args?.length !== args?.length) return false;
  for (let at = 0; at < (args?.length ?? 0); at++) if (!Object.is(known.args?.[at], args?.[at])) return false;
  return true;
}
