import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf, pages, reasons } from "./blocks.ts";

const root = resolve(import.meta.dirname, "../..");

describe("the commands that pages show", () => {
  const blocks = pages(root).flatMap((page) => blocksOf(root, page));

  it("are found", () => {
    expect(blocks.length).toBeGreaterThan(5);
    expect(blocks.map(({ page }) => page)).toContain("README.md");
  });

  it("are all run by `npm run newcomer`, but for those with a reason that counts", () => {
    const others = blocks.filter(
      ({ mark }) => mark.kind === "unknown" || (mark.kind === "skip" && !reasons.test(mark.why)),
    );
    expect(others.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });

  it("are written in blocks of one language, so that none is missed", () => {
    const missed = pages(root).filter((page) =>
      /^```(?:sh|bash|shell|zsh|text)?\n(?:\$ |npm |npx |node |portolan |curl )/m.test(
        readFileSync(resolve(root, page), "utf8"),
      ),
    );
    expect(missed).toEqual([]);
  });
});
