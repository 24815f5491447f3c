import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isEqual } from "./outcome.ts";
import { readPassing } from "./passing.ts";
import { foldersOf, runCase } from "./suite.ts";
import { sharedConformance, suiteNames, suiteOf } from "./suites.ts";

describe("conformance", () => {
  it("has the shared cases beside the repository", () => {
    expect(existsSync(sharedConformance), "put the conformance data at ../shared/conformance").toBe(true);
  });

  it.each(suiteNames)("keeps every case of %s equal that passing.txt lists", async (name) => {
    const listed = readPassing()
      .filter((key) => key.startsWith(`${name}/`))
      .map((key) => key.slice(name.length + 1));
    if (listed.length === 0) return;
    const suite = await suiteOf(name);
    const folders = foldersOf(suite);
    const wanted = new Set(listed);
    const outcomes = await Promise.all(
      folders.filter((folder) => wanted.has(folder.name)).map((folder) => runCase(suite, folder)),
    );
    expect(outcomes.filter(isEqual).map((outcome) => outcome.name)).toEqual(listed);
  });
});
