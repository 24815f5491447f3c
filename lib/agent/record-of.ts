import { isRecord, type JsonRecord } from "../base/classifier.ts";

/** The members of a parsed JSON object; none for anything else. */
export const recordOf = (value: unknown): JsonRecord => (isRecord(value) ? value : {});
