import type { Diagnostic } from "../../config/diagnostic.ts";
import { isFields } from "../../config/untyped.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { Recompiled } from "../recompile/recompiled.ts";

/** Who asked for a compile and why, for the history. */
export type Attribution = Pick<Publishing, "by" | "why">;

/** The same, told through the lease by another process. */
export interface ToldAsk extends Attribution {
  readonly from: string;
}

/** What came of a compile, for those of other processes who waited for it. */
export type Outcome =
  /** The diagnostics are the root's. */
  | { readonly kind: "compiled"; readonly told: Omit<Recompiled, "diagnostics"> }
  | { readonly kind: "failed"; readonly reason: string; readonly diagnostics: readonly Diagnostic[] };

/** The lease as it lies in the store: who compiles now, and what came of the compile before. */
export interface LeaseNote {
  /** Grows with every write, so that no two have the same bytes. */
  readonly serial: number;
  /** Number of the compile that is under way, or was last. */
  readonly turn: number;
  /** `gathering`: the turn waits for more to ask, and has read nothing yet; who asks now is part of it. `running`: who asks now needs the next. */
  readonly state: "gathering" | "running" | "free";
  /** The process that has it, or had it last. */
  readonly holder: string;
  /** When the holder gave its last sign of life, by its clock, in milliseconds since the epoch. */
  readonly atMs: number;
  /** The newest turn that is over, and what came of it. */
  readonly ended: number;
  readonly outcome?: Outcome;
  /** Those of other processes who ask and are not counted by any turn that is running; at most `maxAsks`. */
  readonly asks: readonly ToldAsk[];
}

export const leaseKey = "compile/lease";

/** More names than these are not handed on. */
export const maxAsks = 20;
/** Of a failure's diagnostics those that come first are handed on. */
export const maxHandedOn = 50;

export const firstNote: LeaseNote = { serial: 0, turn: 0, state: "free", holder: "", atMs: 0, ended: 0, asks: [] };

export const noteText = (note: LeaseNote): string => JSON.stringify(note);

/** What is no lease counts as none: whoever takes it next writes it anew. */
export function readNote(text: string): LeaseNote {
  try {
    const json: unknown = JSON.parse(text);
    return isNote(json) ? json : firstNote;
  } catch {
    return firstNote;
  }
}

const isNote = (json: unknown): json is LeaseNote =>
  isFields(json) &&
  [json.serial, json.turn, json.atMs, json.ended].every(Number.isSafeInteger) &&
  typeof json.holder === "string" &&
  Array.isArray(json.asks) &&
  ["gathering", "running", "free"].includes(String(json.state));

/** One publication's words for all who asked for it, each said once. */
export function joinAttributions(asks: readonly Attribution[]): Attribution {
  const all = (texts: readonly (string | undefined)[], between: string) =>
    [...new Set(texts.filter((text) => text !== undefined && text !== ""))].join(between);
  const by = all(
    asks.map((ask) => ask.by),
    ", ",
  );
  const why = all(
    asks.map((ask) => ask.why),
    "; ",
  );
  return { ...(by === "" ? {} : { by }), ...(why === "" ? {} : { why }) };
}
