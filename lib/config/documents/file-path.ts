/** The folder that a path lies in, and those above it, up to the root, which is "". */
export function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) folders.push(path.slice(0, at));
  return [...folders, ""];
}

/**
 * A relative path below a folder, without `.` and `..`.
 *
 * @returns undefined for one that leads out of the root, and for what is no such path
 */
export function joinPath(folder: string, path: string): string | undefined {
  if (path === "" || path.startsWith("/") || path.includes("\n") || path.includes("://")) return undefined;
  const steps = folder === "" ? [] : folder.split("/");
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.pop() === undefined) return undefined;
  }
  return steps.join("/");
}
