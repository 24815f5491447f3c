import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { limits } from "../../lib/limits/limits.ts";

const page = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8");
const [, section = ""] = page.split("## What a request may cost").map((part) => part.split("\n## ")[0]);

/** Rows of the table of limits: name and figure, as the page writes them. */
const rows = [...section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name = "", figure = ""]) => [name, figure]);

/** A limit as people read it: `1 MiB`, `10 s`, `10,000`. */
function figureOf(name: string, value: number): string {
  if (name.endsWith("Ms")) return `${value / 1000} s`;
  if (!name.endsWith("Bytes")) return value.toLocaleString("en");
  const kib = value / 1024;
  return kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`;
}

describe("the table of limits", () => {
  it("has every limit with its figure, in their order", () => {
    expect(rows).toEqual(Object.entries(limits).map(([name, value]) => [name, figureOf(name, value)]));
  });
});
