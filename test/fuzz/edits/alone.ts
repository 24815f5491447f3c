import { encodeResource } from "../../../lib/compile/encode/encode-resource.ts";
import { type WorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { noMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { type CompiledWorld, listIn, resourcesIn } from "../../../lib/snapshot/compiled.ts";
import { resourceTypes } from "../../../lib/snapshot/resource-type.ts";
import { generate } from "../../../lib/xds/generate.ts";
import { streamShape } from "../../../lib/xds/shape.ts";
import { wholeResources } from "../../whole-resources.ts";
import { type Folder, filesOf } from "./folder.ts";

/**
 * Proxies that get other answers from their class than they would get alone, with nothing remembered.
 * Nothing is said where certificates come from files: a class's resources name those, which are put in when it is complete.
 */
export function strangersIn(folder: Folder, options: WorldOptions, compiled: CompiledWorld): readonly string[] {
  if (options.certificates === "files") return [];
  const world = worldOf(readFiles(filesOf(folder)), options, noMemo).value;
  const mesh = buildMesh(world, noMemo).value;
  return world.proxies.flatMap((proxy, at) => {
    const classId = compiled.nodes[at]?.classId;
    const found = compiled.classes.find(({ id }) => id === classId);
    if (found === undefined) return [`${proxy.id} has no class`];
    const own = wholeResources(streamShape(generate(mesh, proxy, noMemo).value, noMemo));
    return resourceTypes.flatMap((type) => {
      const texts = own[type].map((resource) => encodeResource(resource, { type, withBinary: false }, noMemo).text);
      const differs = resourcesIn(listIn(found.stream, type)).find(({ text }) => !texts.includes(text));
      return differs === undefined
        ? []
        : [`${proxy.id} alone has other ${type} than class ${classId}: ${differs.name}`];
    });
  });
}
