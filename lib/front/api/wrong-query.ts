import { shown } from "../excess.ts";
import type { Taken } from "./paths.ts";

/**
 * What is wrong with a request's query: a parameter that the path does not take, one that is there twice, or a value that it cannot have.
 * Passed over, each would be an answer to another question than was asked. An empty value is as if nothing was said.
 *
 * @param sent names with all their values
 * @returns undefined where nothing is
 */
export function wrongQuery(
  path: string,
  sent: ReadonlyMap<string, readonly string[]>,
  taken: Readonly<Record<string, Taken>>,
): string | undefined {
  for (const [name, [value = "", ...more]] of sent) {
    const takes = Object.hasOwn(taken, name) ? taken[name] : undefined;
    if (takes === undefined) return `${path} takes no parameter "${shown(name)}": ${knownText(Object.keys(taken))}`;
    if (more.length > 0) return `"${name}" is there ${more.length + 1} times: once is meant`;
    if (value === "" || takes === "text") continue;
    if (takes === "number" && !/^\d{1,15}$/.test(value)) return `"${name}" is a whole number, not "${shown(value)}"`;
    if (takes !== "number" && !takes.includes(value))
      return `"${name}" is one of ${takes.join(", ")}, not "${shown(value)}"`;
  }
  return undefined;
}

const knownText = (names: readonly string[]): string =>
  names.length === 0 ? "it takes none" : `it takes ${names.join(", ")}`;
