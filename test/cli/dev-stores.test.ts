import { describe, expect, it } from "vitest";
import { type DevStore, devStoreText, meantStore } from "../../lib/cli/dev-stores.ts";

const store = (path: string, folder: string | undefined, isServed = false): DevStore => ({
  path,
  note: folder === undefined ? undefined : { what: folder, folder, pid: 1 },
  isServed,
});

describe("which of several stores of dev is meant", () => {
  it.each([
    ["the one that is being served", [store("a", "/m/a"), store("b", "/m/b", true)], "/m", "b"],
    ["else that of the working directory", [store("a", "/m/a"), store("b", "/m/b")], "/m/b/sub", "b"],
    [
      "of two that are served, that of the working directory",
      [store("a", "/m/a", true), store("b", "/m/b", true)],
      "/m/a",
      "a",
    ],
    ["none of two that are served elsewhere", [store("a", "/m/a", true), store("b", "/m/b", true)], "/m", undefined],
    ["none where nothing says of what they are", [store("a", undefined), store("b", undefined)], "/m", undefined],
    ["none of a folder that only begins alike", [store("a", "/m/a"), store("b", "/m/b")], "/m/ab", undefined],
  ] as const)("is %s", (_, stores, directory, wanted) => {
    expect(meantStore(stores, directory)?.path).toBe(wanted);
  });

  it("is named with its folder, and whether it is served", () => {
    expect([store("a", "/m/a", true), store("b", undefined)].map(devStoreText)).toEqual([
      "a (/m/a, being served)",
      "b",
    ]);
  });
});
