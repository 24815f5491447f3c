import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { pagesOfProse } from "./prose.ts";

/** Commands of this package in blocks that a reader copies: without `npx` a shell finds none. */
function bareCommands(page: string): readonly string[] {
  let isIn = false;
  return readFileSync(new URL(`../../${page}`, import.meta.url), "utf8")
    .split("\n")
    .flatMap((line, at) => {
      if (line.trimStart().startsWith("```")) {
        isIn = !isIn && /^\s*```(?:console|sh|bash)$/.test(line);
        return [];
      }
      const isBare = isIn && /(?:^|[|&;$] |\$\()\s*(?:[A-Z_]+=\S+ )*portolan [a-z-]/.test(line);
      return isBare ? [`${page}:${at + 1}: ${line}`] : [];
    });
}

it("commands in blocks of pages work as they are typed", () => {
  expect(pagesOfProse().flatMap(bareCommands)).toEqual([]);
});
