import { z } from "zod";
import { formatDuration, parseDuration } from "../../base/duration.ts";

/**
 * Scalars of proto JSON. Numbers may be written as texts, as Istio's decoder allows; what an API server refuses of that is found by
 * `numbers-as-texts.ts`. Durations are as Go writes them.
 * Only what holds for every field of the type is checked here; ranges of single fields are in `lib/config/rules`.
 */
const numeric = (min: number, max: number, name: string) => {
  const number = z
    .int(`must be a whole number (${name})`)
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);
  return z.union([
    number,
    z
      .string()
      .regex(/^-?\d+$/)
      .transform(Number)
      .pipe(number),
  ]);
};

export const text = z.string();
export const flag = z.boolean();
export const int32 = numeric(-2147483648, 2147483647, "32 bits");
export const uint32 = numeric(0, 4294967295, "32 bits, not negative");
export const uint64 = numeric(0, Number.MAX_SAFE_INTEGER, "not negative");
export const int64 = numeric(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, "64 bits");
export const double = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/)
    .transform(Number),
]);

/** Canonical text of any duration. */
export const anyDuration = z.string().transform((value, context) => {
  const nanos = parseDuration(value);
  if (nanos !== undefined) return formatDuration(nanos);
  context.addIssue({ code: "custom", message: "must be a duration such as 5s, 100ms or 1m30s" });
  return z.NEVER;
});

/** Canonical text of a duration of at least one millisecond, in whole milliseconds. */
export const duration = z.string().transform((value, context) => {
  const nanos = parseDuration(value);
  const problem =
    nanos === undefined
      ? "must be a duration such as 5s, 100ms or 1m30s"
      : nanos < 1_000_000n
        ? "must be at least 1ms"
        : nanos % 1_000_000n !== 0n
          ? "must be a whole number of milliseconds"
          : undefined;
  if (nanos !== undefined && problem === undefined) return formatDuration(nanos);
  context.addIssue({ code: "custom", message: problem ?? "must be a duration" });
  return z.NEVER;
});

export const texts = z.array(text);
export const stringMap = z.record(text, text);
/** `google.protobuf.Struct`: any JSON object. */
export const struct = z.record(text, z.unknown());
/** A message without fields. */
export const emptyMessage = z.strictObject({});
