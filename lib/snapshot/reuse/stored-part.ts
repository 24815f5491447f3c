import { PortolanError } from "../../base/diagnostic.ts";
import type { CompiledPart, CompiledResource } from "../compiled.ts";

/** What is known of a part that lies in a store. */
export interface StoredForm {
  /** Names of its first and last resource. */
  readonly first: string;
  readonly last: string;
  readonly count: number;
  /** How a tree refers to it; the fields are those of an `EncodedPart`. */
  readonly reference: {
    readonly key: string;
    readonly content: string;
    readonly text: string;
    readonly secrets: readonly string[];
  };
}

const formKey: unique symbol = Symbol("stored form");

/** Of an array nothing is kept: what is asked of it, the handler answers. */
const nothing: CompiledResource[] = [];

/**
 * A part that lies in a store and is not read. It stands in lists as any other: it is compared by identity, has a length, and the names at its
 * ends. Whoever looks farther gets a PortolanError that `isUnread` knows, and compiles what is in it.
 */
class PartOfStore implements ProxyHandler<CompiledResource[]> {
  readonly form: StoredForm;
  readonly #first: CompiledResource;
  readonly #last: CompiledResource;

  constructor(form: StoredForm) {
    this.form = form;
    this.#first = unreadResource(form.first, form);
    this.#last = form.count > 1 ? unreadResource(form.last, form) : this.#first;
  }

  get(_target: CompiledResource[], field: PropertyKey): unknown {
    if (field === formKey) return this.form;
    const { count } = this.form;
    if (field === "length") return count;
    const index = indexOf(field);
    if (index === undefined) return Reflect.get(nothing, field);
    if (index >= count) return undefined;
    if (index > 0 && index < count - 1) return unread(this.form);
    return index === 0 ? this.#first : this.#last;
  }

  has(_target: CompiledResource[], field: PropertyKey): boolean {
    const index = indexOf(field);
    return index === undefined ? Reflect.has(nothing, field) : index < this.form.count;
  }

  ownKeys(): never {
    return unread(this.form);
  }

  getOwnPropertyDescriptor(): never {
    return unread(this.form);
  }

  set(): never {
    return unread(this.form);
  }
}

const indexOf = (field: PropertyKey): number | undefined =>
  typeof field === "string" && /^\d+$/.test(field) ? Number(field) : undefined;

function unread(form: StoredForm): never {
  throw new PortolanError(`resources from ${form.first} to ${form.last} are in the store and were not read`, [], form);
}

/** Nothing but a name. */
const unreadResource = (name: string, form: StoredForm): CompiledResource => ({
  name,
  get text() {
    return unread(form);
  },
  get version() {
    return unread(form);
  },
  get from() {
    return unread(form);
  },
  get binary() {
    return unread(form);
  },
  get runLists() {
    return unread(form);
  },
});

export const storedPart = (form: StoredForm): CompiledPart => new Proxy<CompiledResource[]>([], new PartOfStore(form));

/** Undefined for a part that is at hand. */
export function storedForm(part: CompiledPart): StoredForm | undefined {
  const form: StoredForm | undefined = Reflect.get(part, formKey);
  return form;
}

/** Whether something failed because a part that lies in the store was looked into. */
export const isUnread = (cause: unknown): boolean =>
  cause instanceof PortolanError &&
  typeof cause.cause === "object" &&
  cause.cause !== null &&
  "reference" in cause.cause &&
  "first" in cause.cause;
