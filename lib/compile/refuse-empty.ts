import { PortolanError } from "../config/diagnostic.ts";
import { readFiles, type SourceFile } from "../config/directory.ts";
import type { ShardList } from "./shard-list.ts";

const hint = "allow it with --allow-empty if that is what is meant";

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
  throw new PortolanError(`there is no object here, so the source would be empty; ${hint}`);
}

/** @throws PortolanError when sources hold no object, and nobody has said that they may */
export function refuseEmptyMesh(objects: number, isMeantEmpty: boolean): void {
  if (objects === 0 && !isMeantEmpty) {
    throw new PortolanError(`the sources hold no object, so the mesh would be empty; ${hint}`);
  }
}
