import { asParsed } from "../config/documents/as-parsed.ts";
import { readConfig } from "../config/read-config.ts";
import type { Fields } from "../config/untyped.ts";

/** Why an object is not valid, or undefined where it is. */
export function faultOf(object: Fields): string | undefined {
  const { value, diagnostics } = readConfig(asParsed(object, ""), { unknownFields: "ignore", names: "free" });
  if (value !== undefined) return undefined;
  const error = diagnostics.find(({ severity }) => severity === "error");
  return error === undefined ? "is not valid" : `${error.path.join(".")}: ${error.message}`;
}
