import type { Finding } from "../finding.ts";

/**
 * Which elements of a list of the spec are invalid, by index.
 *
 * @param list name of the field, in camelCase
 * @returns undefined where more than elements of this list is invalid, or nothing
 */
export function invalidElements(
  errors: readonly Pick<Finding, "path">[],
  list: string,
): ReadonlySet<string | number> | undefined {
  const indexes = new Set<string | number>();
  for (const { path } of errors) {
    const [root, field, index] = path;
    if (root !== "spec" || field !== list || index === undefined) return undefined;
    indexes.add(index);
  }
  return indexes.size === 0 ? undefined : indexes;
}
