/** What the benchmarks of generation run of a checkout: of this one, or of another one in the same process. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The parts that every checkout has since there are benchmarks, as they are typed here. */
export interface Checkout
  extends Pick<typeof import("../conformance/load-case.ts"), "loadCase">,
    Pick<typeof import("../../lib/mesh/build-mesh.ts"), "buildMesh">,
    Pick<typeof import("../../lib/incremental/memo.ts"), "createMemo">,
    Pick<typeof import("../../lib/xds/generate.ts"), "generate">,
    Pick<typeof import("../../lib/config/folder/directory.ts"), "readFiles">,
    Pick<typeof import("../../lib/compile/world/world-of.ts"), "worldOf" | "defaultWorldOptions"> {}

/** Where a module has stood, the newest place first. */
const modules = [
  ["test/conformance/load-case.ts"],
  ["lib/mesh/build-mesh.ts"],
  ["lib/incremental/memo.ts", "lib/mesh/memo/memo.ts", "lib/mesh/memo.ts"],
  ["lib/xds/generate.ts"],
  ["lib/config/folder/directory.ts", "lib/config/directory.ts"],
  ["lib/compile/world/world-of.ts", "lib/compile/world-of.ts"],
];

/** @throws if it lacks a module */
export const checkoutIn = (folder: string): Promise<Checkout> => modulesIn(folder, modules);

/**
 * What modules of a checkout export, all together.
 *
 * @param places in which each module has stood, the newest first
 * @throws if it lacks a module
 */
export async function modulesIn<M>(folder: string, places: readonly (readonly string[])[]): Promise<M> {
  const paths = places.map((some) => some.map((place) => join(folder, place)).find((path) => existsSync(path)) ?? "");
  const found = await Promise.all(paths.map((path) => import(pathToFileURL(path).href)));
  return Object.assign({}, ...found);
}
