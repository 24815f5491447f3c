import { RE2JS } from "re2js";
import type { Pattern } from "../../trace/string-match.ts";

/**
 * Reads an expression in Envoy's own dialect, RE2's, which is matched in linear time.
 *
 * @returns undefined for an expression that cannot be read
 */
export function readRegex(pattern: string): Pattern | undefined {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
  return {
    matches: (text) => compiled.matches(text),
    replaceAll: (text, substitution) =>
      compiled
        .matcher(text)
        .replaceAll((...groups: unknown[]) =>
          substitution.replaceAll(/\\(\d|\\)/g, (_, what: string) =>
            what === "\\" ? "\\" : Number(what) > compiled.groupCount() ? "" : String(groups[Number(what)] ?? ""),
          ),
        ),
  };
}
