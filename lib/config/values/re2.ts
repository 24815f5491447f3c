import { RE2JS } from "re2js";

/** A regular expression of the dialect that Istio and Envoy use. */
export interface Re2 {
  /** Does the pattern occur anywhere in the text? */
  isFoundIn(text: string): boolean;
}

/** Compiles a pattern; undefined when it is none. */
export function compileRe2(pattern: string): Re2 | undefined {
  try {
    const compiled = RE2JS.compile(pattern);
    return { isFoundIn: (text) => compiled.matcher(text).find() };
  } catch {
    return undefined;
  }
}
