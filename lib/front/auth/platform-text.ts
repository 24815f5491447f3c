/** A string at a path of a platform's fields; undefined where it is absent or empty. */
export function textAt(value: unknown, path: readonly string[]): string | undefined {
  let found = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Object.entries(found).find(([key]) => key === name)?.[1];
  }
  return typeof found === "string" && found !== "" ? found : undefined;
}
