import { lazily } from "../../incremental/lazy.ts";
import { fingerprint, plainText } from "../../incremental/plain-text.ts";

/**
 * What each input of a view is called, as a plain value. Every input has a name, so that none can be missing from the key;
 * inputs that are the same for all proxies of a mesh are called nothing (`sameForAll`).
 */
export type InputNames<I extends object> = { readonly [K in keyof I]-?: (input: I[K]) => unknown };

/**
 * The key of a view: 24 characters, the same in every process. It changes when other things are selected, not when they change. Worked
 * out when it is asked for, since of the views that others are made of nobody does who only makes resources.
 */
export const viewKey = <I extends object>(names: InputNames<I>, inputs: I): (() => string) =>
  lazily(() => {
    let text = "";
    // `Object.keys` does not say that they are the object's.
    for (const field of Object.keys(names) as (keyof I)[]) text += plainText(names[field](inputs[field]));
    return fingerprint(text);
  });

export const sameForAll = (): string => "";

/** A plain value is its own name. */
export const itself = <T>(input: T): T => input;
