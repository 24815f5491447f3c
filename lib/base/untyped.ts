/**
 * Readers of values that nobody has validated: what is not of the type that is asked for counts as absent.
 */
export type Fields = Readonly<Record<string, unknown>>;

/** What a text says as JSON. @returns undefined for one that is none */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const noFields: Fields = Object.freeze({});
const noStrings: Readonly<Record<string, string>> = Object.freeze({});

/** Whether it is an object with members, and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of an object; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : noFields;
}

/** The elements of an array; none for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A member of an object; undefined for anything else. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

/** The elements of a member that is an array; none for anything else. */
export const listIn = (value: unknown, name: string): readonly unknown[] => listOf(memberOf(value, name));

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** undefined for anything but a number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Whether milliseconds since the epoch are a time that a date can show. */
export const isTime = (ms: number): boolean => !Number.isNaN(new Date(ms).getTime());

/** undefined for anything but a boolean, as Kubernetes tells absent and false apart. */
export function flagOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function allStrings(fields: Fields): fields is Readonly<Record<string, string>> {
  for (const key in fields) if (typeof fields[key] !== "string") return false;
  return true;
}

/** Labels, annotations and selectors: the members whose values are texts. */
export function stringsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isFields(value)) return noStrings;
  if (allStrings(value)) return value;
  const out: Record<string, string> = {};
  for (const [key, member] of Object.entries(value)) if (typeof member === "string") out[key] = member;
  return out;
}
