import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { sidebar } from "../../site/sidebar.ts";
import { pagesUnder } from "./citations.ts";

const root = resolve(import.meta.dirname, "../..");
const listed = sidebar().flatMap(({ entries }) => entries.map(({ page }) => page));

describe("the sidebar of the site", () => {
  it("has every page of docs and every sample", () => {
    const pages = [...pagesUnder("docs"), ...pagesUnder("samples")];
    expect(pages.length).toBeGreaterThan(80);
    expect(pages.filter((page) => !listed.includes(page))).toEqual([]);
  });

  it("has each page once, and none that is not there", () => {
    expect(listed.filter((page, index) => listed.indexOf(page) !== index)).toEqual([]);
    expect(listed.filter((page) => !existsSync(resolve(root, page)))).toEqual([]);
  });

  it("begins with what a newcomer reads first", () => {
    expect(listed.slice(0, 3)).toEqual(["README.md", "docs/getting-started.md", "docs/concepts.md"]);
  });
});
