import type { BodyReader } from "../../limits/read-body.ts";
import { type ShapeName, shapes } from "../../snapshot/resource-type.ts";
import type { Caller } from "../auth/caller.ts";

/** A request to the API, read. */
export interface Asked {
  readonly caller: Caller;
  /** Of the query, and of the path; decoded. */
  readonly value: (name: string) => string | undefined;
  /** By its name in lower case. */
  readonly header: (name: string) => string | undefined;
  readonly body: BodyReader;
}

/** What comes of one. */
export type Answered<T> =
  | { readonly kind: "found"; readonly value: T }
  | { readonly kind: "refused"; readonly status: 400 | 403 | 404 | 409 | 503; readonly reason: string };

export const found = <T>(value: T): Answered<T> => ({ kind: "found", value });
export const refused = (status: 400 | 403 | 404 | 409 | 503, reason: string): Answered<never> => ({
  kind: "refused",
  status,
  reason,
});

/**
 * The shape that a query names.
 *
 * @param usual where it names none
 * @returns undefined for what is no shape
 */
export const shapeOf = ({ value }: Asked, usual: ShapeName = "stream"): ShapeName | undefined =>
  shapes.find((known) => known === (value("shape") || usual));

export const noSuchShape = (): Answered<never> => refused(400, `shape is one of ${shapes.join(", ")}`);

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

const usualLimit = 50;
const maxLimit = 200;

/** `offset` and `limit` of a query. */
export function pageOf({ value }: Asked): Page {
  const limit = wholeNumber(value("limit")) ?? usualLimit;
  return { offset: wholeNumber(value("offset")) ?? 0, limit: Math.min(Math.max(limit, 1), maxLimit) };
}

export function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Whether a name has what is searched for in it, upper or lower case. */
export function matcher(searched: string | undefined): (name: string) => boolean {
  const wanted = (searched ?? "").toLowerCase();
  return wanted === "" ? () => true : (name) => name.toLowerCase().includes(wanted);
}
