import { readFiles } from "../../../lib/config/folder/directory.ts";
import { envelope } from "../a-config.ts";

/** `severity path: message` of everything that is said about a spec; what only informs is left out. */
export function findingsOf(kind: string, spec: string, name = "a"): readonly string[] {
  return readFiles([{ file: "a.yaml", text: `${envelope(kind, name)}spec: ${spec}` }])
    .diagnostics.filter(({ severity }) => severity !== "info")
    .map(({ severity, path, message }) => `${severity} ${path.join(".")}: ${message}`);
}
