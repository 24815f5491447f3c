/** `spec.http[0].route[1].weight`, as people write the path of a field. */
export function pathText(path: readonly (string | number)[]): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}
