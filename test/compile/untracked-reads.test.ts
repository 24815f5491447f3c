import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { generate } from "../../lib/xds/generate.ts";
import { editedFiles, folderEdits } from "../bench/folder-edits.ts";
import { foldersFiles } from "../bench/mesh-folder.ts";
import { syntheticMesh } from "../bench/synthetic-mesh.ts";
import { carriedCases } from "../conformance/carried-cases.ts";
import { loadCase } from "../conformance/load-case.ts";

const cases = ["v3", "gateway-api"].flatMap((suite) =>
  readdirSync(new URL(suite, carriedCases))
    // What cases have in common is none.
    .filter((name) => name !== "parts")
    .map((name) => `${suite}/${name}`),
);

describe("what a compile finds again", () => {
  it("is what it would make again: no query reads anything but its inputs", () => {
    const compile = createFileCompiler(defaultWorldOptions, createMemo({ verifies: true }));
    let files = foldersFiles(syntheticMesh(20).text);
    let found = compile(files, []).memo.hits;
    for (let at = 0; at < 3; at++) {
      files = editedFiles(files, "app-0", (text) => folderEdits["virtual-service"](text, at));
      files = editedFiles(files, "app-5", (text) => folderEdits.endpoint(text, at));
      found += compile(files, []).memo.hits;
    }
    expect(found).toBeGreaterThan(1_000);
  });

  it.each(cases.filter((_, at) => at % 5 === 0))("is what it would make again in the conformance case %s", (name) => {
    const world = loadCase(fileURLToPath(new URL(name, carriedCases)));
    const memo = createMemo({ verifies: true });
    const all = () => {
      const mesh = buildMesh(world, memo).value;
      return world.proxies.map((proxy) => generate(mesh, proxy, memo).value);
    };
    all();
    const { hits = 0 } = memo.known ?? {};
    all();
    expect(memo.known?.hits).toBeGreaterThan(hits);
  });
});
