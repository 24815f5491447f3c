import { type Diagnostic, errorsOf, fileOrigin, PortolanError } from "../../base/diagnostic.ts";
import { readFiles, type SourceFile } from "../../config/folder/directory.ts";
import type { ShardList } from "./lists/shard-list.ts";

/** @throws PortolanError when files hold no object, and no earlier form of one is kept: a mistake that would empty a mesh */
export function refuseEmpty(files: readonly SourceFile[], next: Pick<ShardList, "files" | "kept">): void {
  if (next.kept.length > 0 || next.files.some(({ halfSaved }) => halfSaved) || holdObjects(files)) return;
  const errors = errorsOf(readFiles(files).diagnostics);
  if (errors.length > 0) throw new PortolanError("no object here is valid, and the source was left as it was", errors);
  throw new PortolanError("the source was left as it was", [emptySource(nothingIn(files))]);
}

const maxNamed = 5;

function nothingIn(files: readonly SourceFile[]): string {
  if (files.length === 0) return "there is no file with configuration here";
  const named = files.slice(0, maxNamed).map(({ file }) => file);
  const more = files.length > maxNamed ? ` and ${files.length - maxNamed} more` : "";
  return `none of the files here holds an object (${named.join(", ")}${more})`;
}

/** Whether any of the files holds an object that can be read; mostly the first does. */
export function holdObjects(files: readonly SourceFile[]): boolean {
  return files.some((file) => {
    const { configs, objects, clusters } = readFiles([file]);
    return configs.length + objects.length + clusters.length > 0;
  });
}

/** @throws PortolanError when sources hold no object, and nobody has said that they may */
function refuseEmptyMesh(objects: number, isMeantEmpty: boolean): void {
  if (objects === 0 && !isMeantEmpty) {
    throw new PortolanError("what is served was left as it was", [emptySource("the sources hold no object")]);
  }
}

/** Sources that hold errors and nothing else, or nothing at all, are a mistake, and no reason to empty the mesh. */
export function refuseRubbish(
  { objects, diagnostics }: { readonly objects: number; readonly diagnostics: readonly Diagnostic[] },
  shards: readonly { readonly isMeantEmpty?: boolean }[],
): void {
  const errors = errorsOf(diagnostics);
  if (objects === 0 && errors.length > 0) {
    throw new PortolanError("the sources hold no configuration that can be read", errors);
  }
  refuseEmptyMesh(
    objects,
    shards.some(({ isMeantEmpty = false }) => isMeantEmpty),
  );
}

const emptySource = (what: string): Diagnostic => ({
  code: "empty-source",
  severity: "error",
  origin: fileOrigin(""),
  path: [],
  message: `${what}, and proxies would lose what they have`,
  hint: "look whether this is the right folder; with --allow-empty it is done all the same",
});
