import { type Diagnostic, fileOrigin, PortolanError } from "../config/diagnostic.ts";
import { readFiles, type SourceFile } from "../config/directory.ts";
import type { ShardList } from "./shard-list.ts";

/** @throws PortolanError when files hold no object, and no earlier form of one is kept: a mistake that would empty a mesh */
export function refuseEmpty(files: readonly SourceFile[], { kept }: Pick<ShardList, "kept">): void {
  if (kept.length > 0) return;
  const errors = [];
  for (const file of files) {
    const { configs, objects, clusters, diagnostics } = readFiles([file]);
    if (configs.length + objects.length + clusters.length > 0) return;
    errors.push(...diagnostics.filter(({ severity }) => severity === "error"));
  }
  if (errors.length > 0) throw new PortolanError("there is no configuration here that can be read", errors);
  throw new PortolanError("the source was left as it was", [emptySource("there is no object here")]);
}

/** @throws PortolanError when sources hold no object, and nobody has said that they may */
export function refuseEmptyMesh(objects: number, isMeantEmpty: boolean): void {
  if (objects === 0 && !isMeantEmpty) {
    throw new PortolanError("what is served was left as it was", [emptySource("the sources hold no object")]);
  }
}

const emptySource = (what: string): Diagnostic => ({
  code: "empty-source",
  severity: "error",
  origin: fileOrigin(""),
  path: [],
  message: `${what}, and every proxy would lose what it has`,
  hint: "look whether this is the right folder; with --allow-empty it is done all the same",
});
