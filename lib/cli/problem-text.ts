import { z } from "zod";
import type { Diagnostic } from "../config/diagnostic.ts";
import { fieldsOf, jsonIn } from "../config/untyped.ts";

/** Why a request was refused. */
export interface Problem {
  readonly detail: string;
  /** Of what was sent; none of a front. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What a refusal says, as RFC 9457 has it; of anything else, from a proxy on the way, the beginning. */
export function problemIn(text: string): Problem {
  const { detail, diagnostics } = fieldsOf(jsonIn(text));
  return {
    detail: typeof detail === "string" ? detail : text.slice(0, 500),
    diagnostics: Array.isArray(diagnostics) ? diagnostics.filter(isDiagnostic) : [],
  };
}

/** As far as it is printed. */
const printed = z.looseObject({
  code: z.string(),
  severity: z.enum(["error", "warning", "info"]),
  origin: z.looseObject({
    key: z.looseObject({ group: z.string(), kind: z.string(), name: z.string(), namespace: z.string() }),
    file: z.string(),
    line: z.number(),
  }),
  path: z.array(z.union([z.string(), z.number()])),
  message: z.string(),
  hint: z.string(),
});

/** Whoever answers may be another version, or no compile function. */
const isDiagnostic = (value: unknown): value is Diagnostic => printed.safeParse(value).success;
