/** What is left of an object of which a secret was left out: it is refused, with what was found in it. */
import type { Diagnostic } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, isFields, jsonIn, listOf, numberOf, textOf } from "../../base/untyped.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { at, error, type Path } from "../finding.ts";

/** Annotation of an object of which secrets were left out: where they stood and what they were, as JSON. */
const leftOutAnnotation = "internal.portolan.dev/left-out";

/** What the annotation holds: codes as they were found, and never anything of a secret. */
interface LeftOut {
  readonly code: "inline-secret" | "inline-symmetric-key";
  readonly path: Path;
  readonly line: number;
  readonly message: string;
  readonly hint: string;
}

/** An object with more of them keeps nothing but its name: each costs a way through the object. */
const maxFields = 32;

/**
 * An object without the fields that hold secrets, as one line of JSON. It reads as one that is refused for each of them.
 *
 * @param found of `secretsIn`, about this object
 */
export function withoutFields(object: ParsedObject, found: readonly Diagnostic[]): string {
  const { origin, ...fields } = object;
  const named = found.slice(0, maxFields);
  const {
    apiVersion,
    kind,
    metadata: { name, namespace },
  } = object;
  const identity = { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
  const kept =
    found.length > maxFields
      ? identity
      : named.reduce<Fields>((from, { path }) => fieldsOf(emptiedAt(from, path)), fields);
  const leftOut = named.map(({ code, path, origin: { line }, message, hint }) => ({ code, path, line, message, hint }));
  const metadata = fieldsOf(kept.metadata);
  const annotations = { ...fieldsOf(metadata.annotations), [leftOutAnnotation]: JSON.stringify(leftOut) };
  return JSON.stringify({ ...kept, metadata: { ...metadata, annotations } });
}

/** The same value with nothing where a path leads; the whole value where it leads nowhere. */
function emptiedAt(value: unknown, [step, ...rest]: Path): unknown {
  if (step === undefined) return typeof value === "string" ? "" : {};
  if (Array.isArray(value)) return value.map((element, index) => (index === step ? emptiedAt(element, rest) : element));
  if (!isFields(value)) return typeof value === "string" ? "" : {};
  return { ...value, [step]: emptiedAt(value[step], rest) };
}

/** What was left out of an object, as it was found; nothing for any other object. */
export function leftOutFindings({ metadata, origin }: ParsedObject): readonly Diagnostic[] {
  const written = fieldsOf(metadata.annotations)[leftOutAnnotation];
  if (typeof written !== "string") return [];
  const read = listOf(jsonIn(written)).map(leftOutIn);
  const found = read.filter((one) => one !== undefined);
  if (found.length === 0 || found.length < read.length) return [at(origin, unknownForm)];
  return found.map(({ line, ...finding }) => at({ ...origin, line }, { ...finding, severity: "error" }));
}

/** Whoever writes the annotation by hand refuses an object of theirs. */
const unknownForm = error(
  ["metadata", "annotations", leftOutAnnotation],
  "is reserved for portolan, so the object is refused",
  "remove the annotation",
);

function leftOutIn(value: unknown): LeftOut | undefined {
  const { code, path, line, message, hint } = fieldsOf(value);
  if (code !== "inline-secret" && code !== "inline-symmetric-key") return undefined;
  const steps = listOf(path).filter((step) => typeof step === "string" || typeof step === "number");
  return { code, path: steps, line: numberOf(line) ?? 0, message: textOf(message), hint: textOf(hint) };
}
