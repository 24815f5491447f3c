import { isFields } from "../base/untyped.ts";
import type { Finding, Path } from "../config/finding.ts";

/** What of a file is right, so far as fields tell one by one. */
export interface RightPart {
  readonly value: unknown;
  /** What was left out, as `front.port`: of what depends on it nothing can be said. */
  readonly wrong: ReadonlySet<string>;
}

/** A value without the fields that something was found about; of a list with a wrong value nothing is left. */
export function rightPart(value: unknown, findings: readonly Finding[]): RightPart {
  const wrong = findings.map(({ path, code }) => (code === "unknown-field" ? path : beforeIndex(path)));
  return { value: wrong.reduce(without, value), wrong: new Set(wrong.map((path) => path.join("."))) };
}

function beforeIndex(path: Path): Path {
  const index = path.findIndex((step) => typeof step === "number");
  return index < 0 ? path : path.slice(0, index);
}

function without(value: unknown, [step = "", ...rest]: Path): unknown {
  if (Array.isArray(value)) return value.map((one, index) => (index === step ? without(one, rest) : one));
  if (!isFields(value)) return value;
  const { [step]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...others, [step]: without(inner, rest) };
}
