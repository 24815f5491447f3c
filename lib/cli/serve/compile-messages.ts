import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import type { Recompiled } from "../../compile/recompile/recompiled.ts";
import type { CompileReport, StageName } from "../../compile/telemetry/observer.ts";
import { NothingFilled } from "../../compile/world/nothing-filled.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { Publication } from "../dev/dev-report.ts";
import type { DevSettings } from "../dev/dev-settings.ts";

/** What the compile process is sent, as JSON. */
export type CompileRequest =
  | {
      readonly kind: "start";
      /** The store, as `openStore` takes it. */
      readonly where: string;
      readonly s3Endpoint?: string | undefined;
      readonly sources: readonly string[];
      /** Variables as `compileSettingsFrom` takes them. */
      readonly env: Readonly<Record<string, string | undefined>>;
      /** What `portolan dev` compiles, in the place of `sources` and `env`; absent: it is `portolan serve` that asks. */
      readonly dev?: DevSettings | undefined;
    }
  | {
      readonly kind: "compile";
      readonly publishing?: Publishing | undefined;
      /** Sources that are compiled at another version than theirs, or without a version not at all. */
      readonly held: readonly { readonly name: string; readonly version?: string | undefined }[];
    }
  /** The answer to `may-publish`. */
  | { readonly kind: "publish"; readonly refused?: string };

/** What the compile process sends, as JSON. */
export type CompileNews =
  | { readonly kind: "began" }
  | { readonly kind: "stage"; readonly id: number; readonly name: StageName }
  | { readonly kind: "stage-ended"; readonly id: number }
  | { readonly kind: "done"; readonly report: CompileReport }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "trouble"; readonly of: TroubleOf; readonly reason: string }
  | { readonly kind: "may-publish" }
  /** With what `portolan dev` reports of it. */
  | { readonly kind: "answer"; readonly told: Recompiled; readonly publication?: Publication }
  | { readonly kind: "refusal"; readonly failure: Failure };

/** What a compile does without where it fails. */
export type TroubleOf = "slice" | "prewrite" | "analysis";

/** An error as it goes from one process to another. */
export interface Failure {
  readonly of: "input" | "nothing-filled" | "program";
  readonly reason: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly stack?: string | undefined;
}

export function failureOf(cause: unknown): Failure {
  if (cause instanceof NothingFilled) return { of: "nothing-filled", reason: cause.message, diagnostics: [] };
  if (cause instanceof PortolanError) return { of: "input", reason: cause.message, diagnostics: cause.diagnostics };
  const stack = cause instanceof Error ? cause.stack : undefined;
  return { of: "program", reason: String(cause), diagnostics: [], stack };
}

/** The error again; one of the program's own has the stack of the other process. */
export function errorOf({ of, reason, diagnostics, stack }: Failure): Error {
  if (of === "nothing-filled") return new NothingFilled();
  if (of === "input") return new PortolanError(reason, diagnostics);
  const error = new Error(reason);
  if (stack !== undefined) error.stack = stack;
  return error;
}
