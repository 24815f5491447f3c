import { RE2JS } from "re2js";
import { error, type Finding, type Path } from "../finding.ts";

const maxLength = 1024;

/** RE2 without look-around and back references, as Envoy compiles it. */
export function* regexRules(regex: string, path: Path): Generator<Finding> {
  if (regex === "") yield error(path, "must not be empty");
  else if (regex.length > maxLength) yield error(path, `is longer than ${maxLength} characters`);
  else if (!isRegex(regex)) yield error(path, `${JSON.stringify(regex)} is no regular expression that RE2 understands`);
}

export function isRegex(regex: string): boolean {
  try {
    RE2JS.compile(regex);
    return true;
  } catch {
    return false;
  }
}
