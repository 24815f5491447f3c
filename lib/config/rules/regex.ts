import { error, type Finding, type Path } from "../finding.ts";
import { compileRe2 } from "../re2.ts";

const maxLength = 1024;

/** RE2 without look-around and back references, as Envoy compiles it. */
export function* regexRules(regex: string, path: Path): Generator<Finding> {
  if (regex === "") yield error(path, "must not be empty");
  else if (regex.length > maxLength) yield error(path, `is longer than ${maxLength} characters`);
  else if (!isRegex(regex)) yield error(path, `${JSON.stringify(regex)} is no regular expression that RE2 understands`);
}

export const isRegex = (regex: string): boolean => compileRe2(regex) !== undefined;
