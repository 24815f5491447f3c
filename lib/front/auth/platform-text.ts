/** A text in what a platform says of a request; undefined where there is none, or an empty one. */
export function textAt(value: unknown, path: readonly string[]): string | undefined {
  let found = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Object.entries(found).find(([key]) => key === name)?.[1];
  }
  return typeof found === "string" && found !== "" ? found : undefined;
}
