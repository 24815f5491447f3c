import { describe, expect, it } from "vitest";
import { hasShared } from "../shared.ts";
import { isEqual } from "./outcome.ts";
import { readPassing } from "./passing.ts";
import { bytesOf, carriedFolders, sizeBound } from "./size.ts";
import { foldersOf, runCase } from "./suite.ts";
import { type SuiteName, suiteNames, suiteOf, suitesOf } from "./suites.ts";

/** Cases of passing.txt that the repository carries; the others lie beside it. Absent: it carries all. */
const carried: Readonly<Partial<Record<SuiteName, number>>> = {
  v3: 207,
  "v3-samples": 0,
  "gateway-api": 52,
  grpc: 20,
  "istio-proxies": 205,
  v1: 129,
};

const listedOf = (suite: SuiteName): readonly string[] =>
  readPassing()
    .filter((key) => key.startsWith(`${suite}/`))
    .map((key) => key.slice(suite.length + 1));

describe("conformance", () => {
  it.each(suitesOf(...suiteNames))("keeps every case of %s equal that passing.txt lists", async (name) => {
    const listed = listedOf(name);
    const suite = await suiteOf(name);
    const wanted = new Set(listed);
    const folders = foldersOf(suite).filter((folder) => wanted.has(folder.name));
    const outcomes = await Promise.all(folders.map((folder) => runCase(suite, folder, true)));
    expect(outcomes.filter((outcome) => !isEqual(outcome)).map((outcome) => outcome.name)).toEqual([]);
    expect(outcomes.length).toBe(hasShared ? listed.length : (carried[name] ?? listed.length));
  });

  it("weighs at most 8 MB in a checkout", () => {
    expect(bytesOf(carriedFolders())).toBeLessThanOrEqual(sizeBound);
  });
});
