import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import { isFields } from "../../base/untyped.ts";
import { cutText, cutWords } from "../../snapshot/free-text.ts";
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
  /** When the holder gave its last sign of life, by its clock, in milliseconds since the epoch. Compared with itself only. */
  readonly atMs: number;
  /** How many processes in a row have ended in the midst of a turn, the last of them before this one; absent for none. */
  readonly deaths?: number;
  /** The newest turn that is over, and what came of it. */
  readonly ended: number;
  readonly outcome?: Outcome;
  /** Those of other processes who ask and are not counted by any turn that is running; at most `maxAsks`. */
  readonly asks: readonly ToldAsk[];
}

export const leaseKey = "compile/lease";

/** More names than these are not handed on. */
export const maxAsks = 20;
/** Of a failure's diagnostics those that come first are handed on, */
const maxHandedOn = 50;
/** as long as they have no more bytes as JSON. The lease is read and written again and again. */
const maxHandedOnBytes = 65_536;
/** Of a failure's reason the beginning is. */
const maxReasonBytes = 4_096;

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

/** What those of other processes are told of a failure. */
export function failedOutcome(cause: unknown): Outcome {
  if (!(cause instanceof PortolanError))
    return {
      kind: "failed",
      reason: "an error of Portolan's own; see the log of the process that compiled",
      diagnostics: [],
    };
  let bytes = 0;
  const diagnostics = cause.diagnostics.slice(0, maxHandedOn).filter((diagnostic) => {
    bytes += new TextEncoder().encode(JSON.stringify(diagnostic)).length;
    return bytes <= maxHandedOnBytes;
  });
  return { kind: "failed", reason: cutText(cause.message, maxReasonBytes), diagnostics };
}

const isNote = (json: unknown): json is LeaseNote =>
  isFields(json) &&
  [json.serial, json.turn, json.ended].every(isCount) &&
  Number(json.ended) <= Number(json.turn) &&
  Number.isSafeInteger(json.atMs) &&
  (json.deaths === undefined || isCount(json.deaths)) &&
  typeof json.holder === "string" &&
  Array.isArray(json.asks) &&
  json.asks.every(isAsk) &&
  (json.outcome === undefined || isOutcome(json.outcome)) &&
  ["gathering", "running", "free"].includes(String(json.state));

/** Numbers that can grow for ever after. */
const isCount = (value: unknown): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 52;

const isTextIfAny = (value: unknown): boolean => value === undefined || typeof value === "string";

const isAsk = (value: unknown): boolean =>
  isFields(value) && typeof value.from === "string" && isTextIfAny(value.by) && isTextIfAny(value.why);

function isOutcome(value: unknown): boolean {
  if (!isFields(value)) return false;
  if (value.kind === "failed") return typeof value.reason === "string" && Array.isArray(value.diagnostics);
  return value.kind === "compiled" && isFields(value.told) && typeof value.told.version === "string";
}

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
  return cutWords({ ...(by === "" ? {} : { by }), ...(why === "" ? {} : { why }) });
}
