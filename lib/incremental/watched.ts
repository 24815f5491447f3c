/** Who answers for a source, and notes what was asked. */
export interface Answering {
  /** Name of the query that asks. */
  readonly query: string;
  /** @returns what stands in a field; of a function one that notes its calls */
  answer(field: PropertyKey): unknown;
}

/** A source of any kind as a query sees it: fields can be asked for and functions called, and all else is refused. */
export function watchedAtAll<S extends object>(answering: Answering): S {
  // TypeScript wants the target of a proxy to be what the proxy is.
  return new Proxy(answering, onlyAsked) as object as S;
}

function refuse({ query }: Answering): never {
  throw new Error(`query ${query}: of a source only fields and functions can be asked`);
}

const onlyAsked: ProxyHandler<Answering> = {
  get: (answering, field) => answering.answer(field),
  ownKeys: refuse,
  has: refuse,
  getOwnPropertyDescriptor: refuse,
  set: refuse,
  defineProperty: refuse,
  deleteProperty: refuse,
  preventExtensions: refuse,
  setPrototypeOf: refuse,
};

/** Every field of a source. */
export type Fields<S extends object> = Readonly<Record<keyof S, true>>;

/** As `watchedAtAll`, for sources whose fields are known: what looks through one finds no field of its own. */
export function watchedIn<S extends object>(fields: Fields<S>): (answering: Answering) => S {
  const names = Object.keys(fields);
  class Watched {
    readonly #answering: Answering;
    /** Of fields that were asked for: most are asked for again. */
    readonly #answers: unknown[] = new Array(names.length);

    constructor(answering: Answering) {
      this.#answering = answering;
    }

    static {
      for (const [at, field] of names.entries()) {
        Object.defineProperty(Watched.prototype, field, {
          get(this: Watched) {
            this.#answers[at] ??= this.#answering.answer(field);
            return this.#answers[at];
          },
        });
      }
    }
  }
  // It has every field of a source.
  return (answering) => new Watched(answering) as object as S;
}
