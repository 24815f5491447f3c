import { type Diagnostic, PortolanError } from "../../lib/base/diagnostic.ts";

/** Diagnostics of a compile, be they those of its refusal. */
export function saidBy(compile: () => { readonly diagnostics: readonly Diagnostic[] }): readonly Diagnostic[] {
  try {
    return compile().diagnostics;
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return cause.diagnostics;
  }
}
