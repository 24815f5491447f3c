import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readFiles } from "../../lib/config/directory.ts";

const shared = new URL("../../../shared/conformance/", import.meta.url);
const read = (folder: URL, files: readonly string[]) =>
  readFiles(files.map((file) => ({ file, text: readFileSync(new URL(file, folder), "utf8") })));
const problems = (loaded: ReturnType<typeof readFiles>) =>
  loaded.diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ origin, path, message }) => `${origin.file}:${origin.line} ${path.join(".")} ${message}`);

interface V1Case {
  readonly configs?: readonly string[];
  readonly configsFinalV1alpha3?: readonly string[];
  readonly reject?: boolean;
}

describe.runIf(existsSync(shared))("the shared conformance data", () => {
  it.each(["v3", "v3-samples"])("has only configuration that is accepted in %s", (suite) => {
    const root = new URL(`${suite}/`, shared);
    const cases = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of cases) {
      const folder = new URL(`${name}/`, root);
      const files = ["input.yaml", "mesh.yaml", "networks.yaml"].filter((file) => existsSync(new URL(file, folder)));
      expect(problems(read(folder, files)), name).toEqual([]);
    }
  });

  it("has configuration in v1 that is accepted, and refused where the case says so", () => {
    const root = new URL("v1/", shared);
    const index = JSON.parse(readFileSync(new URL("index.json", root), "utf8")) as readonly { readonly path: string }[];
    for (const { path } of index) {
      const folder = new URL(`${path}/`, root);
      const wanted = JSON.parse(readFileSync(new URL("case.json", folder), "utf8")) as V1Case;
      const found = problems(read(folder, wanted.configs ?? []));
      if (wanted.reject === true) expect(found, path).not.toEqual([]);
      else expect(found, path).toEqual([]);
      expect(problems(read(folder, wanted.configsFinalV1alpha3 ?? [])), path).toEqual([]);
    }
  });
});
