import { behind, Fork, put } from "./fork.ts";
import { type Memo, unknownYet } from "./memo.ts";
import { type InputKinds, inputReader } from "./step.ts";

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
 */
export function tracedStep<I extends object, S extends object, T>(
  name: string,
  kinds: InputKinds<I>,
  make: (inputs: I, source: S, memo: Memo) => T,
): TracedStep<I, S, T> {
  const inputsOf = inputReader(name, kinds);
  const recorded = (trace: Trace<T>, inputs: I, source: S, memo: Memo): Traced<T> => {
    const recorder = new Recorder(name, trace, source);
    return recorder.end(make(inputs, recorder.watched(), memo));
  };
  return (memo, inputs, source) => {
    if (memo.known === undefined) return recorded(new Trace<T>(), inputsOf.own(inputs), source, memo);
    const cell = inputsOf.find(memo.known, inputs);
    if (cell.value === unknownYet) cell.value = new Trace<T>();
    // A cell belongs to one step, and a step has one type of result.
    const trace = cell.value as Trace<T>;
    const found = findResult(trace, source);
    if (found !== undefined) {
      memo.known.hits += 1;
      return found;
    }
    memo.known.misses += 1;
    return recorded(trace, inputsOf.own(inputs, cell.way), source, memo);
  };
}

export type TracedStep<I extends object, S extends object, T> = (memo: Memo, inputs: I, source: S) => Traced<T>;

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
class Trace<T> extends Fork<Trace<T>> {
  /** Undefined where no further question was asked. */
  question: Question | undefined = undefined;
  result: Traced<T> | undefined = undefined;
}

/** Plain answers that one question keeps. */
const maxAnswers = 4096;

/** Where an answer leads. */
function enter<T>(trace: Trace<T>, answer: unknown): Trace<T> {
  const known = behind(trace, answer);
  if (known !== undefined) return known;
  const made = new Trace<T>();
  put(trace, answer, made, maxAnswers);
  return made;
}

/** The value of a field; the source's own word for what nobody else may change. */
const fieldOf = (source: object, field: PropertyKey): unknown => Reflect.get(source, field);

const ask = (source: object, question: Question): unknown =>
  answerOf(source, fieldOf(source, question.field), question);

/** @param value of the question's field */
const answerOf = (source: object, value: unknown, { args }: Question): unknown =>
  args === undefined || typeof value !== "function" ? value : Reflect.apply(value, source, args);

function findResult<T>(start: Trace<T>, source: object): Traced<T> | undefined {
  let trace = start;
  while (trace.result === undefined) {
    if (trace.question === undefined) return undefined;
    const next = behind(trace, ask(source, trace.question));
    if (next === undefined) return undefined;
    trace = next;
  }
  return trace.result;
}

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

/** What every watched source is a proxy of: empty, and not frozen, since a frozen one would not let functions be wrapped. */
const nothing: object = {};

/** One run of a step, as the handler of what `make` sees: notes every question, and puts the result behind them. */
class Recorder<S extends object, T> implements ProxyHandler<S> {
  readonly #name: string;
  readonly #source: S;
  #trace: Trace<T>;
  /** Undefined as long as nothing was asked, which for many runs is all there is. */
  #questions: Question[] | undefined;
  #answers: unknown[] | undefined;
  /** Undefined as long as there are few: collections are costly, as in the memo. */
  #asked: Map<PropertyKey, Asked> | undefined;

  constructor(name: string, start: Trace<T>, source: S) {
    this.#name = name;
    this.#trace = start;
    this.#source = source;
  }

  /** The source as `make` sees it. */
  watched(): S {
    // A proxy's target says only whether it can be called; TypeScript wants it to be a source.
    return new Proxy<S>(nothing as S, this);
  }

  get(_target: S, field: PropertyKey): unknown {
    // Worked out once: what a field says may be costly to say.
    const value = fieldOf(this.#source, field);
    if (typeof value !== "function") return this.#answerTo(field, undefined, value);
    return (...args: readonly unknown[]) => this.#answerTo(field, args, value);
  }

  ownKeys(): never {
    return this.#refuse();
  }

  has(): never {
    return this.#refuse();
  }

  getOwnPropertyDescriptor(): never {
    return this.#refuse();
  }

  set(): never {
    return this.#refuse();
  }

  defineProperty(): never {
    return this.#refuse();
  }

  deleteProperty(): never {
    return this.#refuse();
  }

  preventExtensions(): never {
    return this.#refuse();
  }

  setPrototypeOf(): never {
    return this.#refuse();
  }

  end(value: T): Traced<T> {
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
      throw new Error(`step ${this.#name} asks otherwise after the same answers: ${String(question.field)}`);
    }
    trace.question = question;
    this.#questions?.push(question);
    const answer = answerOf(this.#source, value, question);
    this.#trace = enter(trace, answer);
    return answer;
  }

  #refuse(): never {
    throw new Error(`step ${this.#name}: of a source only fields and functions can be asked`);
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
