export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a parsed JSON value is an object. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
