import type { Diagnostic } from "../../base/diagnostic.ts";
import { fieldsOf, isFields, textOf } from "../../base/untyped.ts";

/** What is said of a document that is left out. */
export type LeftOutReason = Pick<Diagnostic, "message" | "hint">;

/** Its only field. */
const field = "internal.portolan.dev/left-out-document";

/**
 * What stands in place of a document that is left out whole, since a secret may stand in it: one line of JSON.
 *
 * @param objects what is known of those that fail closed, as such objects are written
 */
export const documentLeftOut = (
  { message, hint }: LeftOutReason,
  objects: readonly Readonly<Record<string, string>>[],
): string => JSON.stringify({ [field]: { message, hint, ...(objects.length === 0 ? {} : { objects }) } });

/** @returns undefined for anything but what `documentLeftOut` wrote */
export function leftOutOfDocument(value: unknown): (LeftOutReason & Pick<Diagnostic, "code" | "severity">) | undefined {
  const leftOut = fieldsOf(value)[field];
  if (!isFields(leftOut)) return undefined;
  return { code: "secret-in-source", severity: "error", message: textOf(leftOut.message), hint: textOf(leftOut.hint) };
}

/** Whether a document of a text was left out: what it held is not known. */
export const hasLeftOutDocument = (text: string): boolean => text.includes(field);
