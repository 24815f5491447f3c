/** Where an object is visible. @see docs/how-istio-does-it/services.md#visibility */
export interface Visibility {
  readonly everywhere: boolean;
  /** Namespaces by name, `.` resolved; empty when `everywhere` or hidden. */
  readonly namespaces: readonly string[];
}

/**
 * @param declared the object's exportTo; undefined or empty: the mesh default applies
 * @param meshDefault the mesh's list; undefined stands for `["*"]`, an empty list hides the object
 */
export function visibilityOf(
  declared: readonly string[] | undefined,
  meshDefault: readonly string[] | undefined,
  namespace: string,
): Visibility {
  const entries = declared === undefined || declared.length === 0 ? (meshDefault ?? ["*"]) : declared;
  if (entries.includes("*")) return { everywhere: true, namespaces: [] };
  if (entries.includes("~")) return { everywhere: false, namespaces: [] };
  const namespaces = [...new Set(entries.map((entry) => (entry === "." ? namespace : entry)))];
  return { everywhere: false, namespaces };
}

export function isVisibleIn(visibility: Visibility, namespace: string): boolean {
  return visibility.everywhere || visibility.namespaces.includes(namespace);
}
