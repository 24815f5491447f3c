import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { editedFiles, folderEdits } from "../bench/folder-edits.ts";
import { foldersFiles } from "../bench/mesh-folder.ts";
import { syntheticMesh } from "../bench/synthetic-mesh.ts";

/** A compiler that has seen the mesh; gives lookups of a compile after another change of one object, or after none. */
function meshOf(services: number) {
  const compile = createFileCompiler(defaultWorldOptions);
  let files = foldersFiles(syntheticMesh(services).text);
  let edits = 0;
  const lookups = (): number => {
    const { hits, misses } = compile(files, []).memo;
    return hits + misses;
  };
  const edited = (kind: keyof typeof folderEdits, service: "app-0" | "app-5"): number => {
    edits += 1;
    files = editedFiles(files, service, (text) => folderEdits[kind](text, edits % 10));
    return lookups();
  };
  lookups();
  return {
    lookups,
    endpoint: () => edited("endpoint", "app-5"),
    virtualService: () => edited("virtual-service", "app-0"),
  };
}

describe.each([100, 400])("a mesh of %i services", (services) => {
  it("costs for one endpoint what it cost at first, after 1,000 compiles that changed nothing or one route", () => {
    const { lookups, endpoint, virtualService } = meshOf(services);
    virtualService();
    endpoint();
    const first = endpoint();
    for (let at = 1; at <= 1_000; at++) {
      if (at % 20 === 0) virtualService();
      else lookups();
    }
    expect([endpoint(), endpoint()]).toEqual([first, first]);
    // Five seconds of work on a machine that does nothing else.
  }, 120_000);
});
