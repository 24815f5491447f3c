import { type Finding, type Path, warning } from "../../config/finding.ts";
import type { LegacyJwt, PathMatch } from "../../config/kinds/legacy/authentication-policy.ts";

/** The requests that one trigger rule picks, as paths of an AuthorizationPolicy; without either: all. */
export interface TriggerRegion {
  readonly paths?: readonly string[];
  readonly notPaths?: readonly string[];
}

/**
 * The requests whose token is asked for. What patterns of paths cannot say makes a region larger, never smaller: a token is
 * asked for where none was.
 */
export function triggerRegions({ triggerRules }: LegacyJwt): readonly TriggerRegion[] {
  if (triggerRules === undefined) return [{}];
  return triggerRules.flatMap(({ includedPaths = [], excludedPaths = [] }): readonly TriggerRegion[] => {
    if (excludedPaths.some(isEverything)) return [];
    const included = includedPaths.map(patternOf);
    const paths = includedPaths.some(isEverything) ? [] : included.filter((path) => path !== undefined);
    const notPaths = excludedPaths.flatMap((path) => patternOf(path) ?? []);
    return [
      {
        ...(paths.length === 0 || included.includes(undefined) ? {} : { paths }),
        ...(notPaths.length === 0 ? {} : { notPaths }),
      },
    ];
  });
}

/** What of the trigger rules of a token is taken more strictly than it was written. */
export function triggerFindings({ triggerRules = [] }: LegacyJwt, path: Path): readonly Finding[] {
  return triggerRules.flatMap((rule, index) =>
    (["includedPaths", "excludedPaths"] as const).flatMap((field) =>
      (rule[field] ?? []).flatMap((match, at) =>
        patternOf(match) !== undefined || isEverything(match)
          ? []
          : [
              warning(
                [...path, "triggerRules", index, field, at],
                `no pattern for paths can express ${JSON.stringify(match)}: a token is asked for ${field === "includedPaths" ? "on every path" : "there as well"}`,
                "write it as exact, prefix or suffix",
                "legacy-not-expressible",
              ),
            ],
      ),
    ),
  );
}

const isEverything = ({ prefix, suffix }: PathMatch): boolean => prefix === "" || suffix === "";

/** Undefined for regular expressions, and for texts that a pattern would read as something else. */
function patternOf({ exact, prefix, suffix }: PathMatch): string | undefined {
  const text = exact ?? prefix ?? suffix;
  if (text === undefined || text === "" || /^\*|\*$|\{\*\*?\}/.test(text)) return undefined;
  if (exact !== undefined) return text;
  return prefix === undefined ? `*${text}` : `${text}*`;
}
