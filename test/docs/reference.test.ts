import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { limits } from "../../lib/limits/limits.ts";
import { referencePages } from "../../site/reference-pages.ts";

const folder = resolve(import.meta.dirname, "../../docs/reference");

const pages = await referencePages();

describe("the pages that are made from code", () => {
  it.each(pages)("are what npm run reference would write: $file", ({ file, text }) => {
    expect(readFileSync(join(folder, file), "utf8")).toBe(text);
  });

  it("have every limit of requests with its figure, in their order", () => {
    const text = pages.find(({ file }) => file === "limits.md")?.text ?? "";
    const rows = [...text.matchAll(/^\| `(\w+)` \| ([^|]+) \| [A-Z`].*\. \|$/gm)];
    expect(rows.map(([, name]) => name)).toEqual(Object.keys(limits));
    expect(rows.map(([, name, figure]) => [name, figure])).toEqual(
      expect.arrayContaining([
        ["pollBytes", "1 MiB"],
        ["headersMs", "10 s"],
        ["names", "10,000"],
      ]),
    );
  });

  it("have every command with an example, and every request", () => {
    const [commands = "", api = ""] = pages.map(({ text }) => text);
    const sections = commands.split(/^## /m).slice(1);
    expect(sections.length).toBeGreaterThan(40);
    expect(sections.filter((section) => !/^- `(?:[A-Z_]+=\S+ )?portolan /m.test(section))).toEqual([]);
    expect(sections.find((section) => section.startsWith("portolan trace"))).toContain("| `--header ");
    expect(api).toContain("## POST /api/moves\n");
    expect(api).toContain("| `severity` | query | `error`, `warning`, `info` |");
    expect(api).toMatch(/## GET \/api\/classes\/\{id\}\n[\s\S]*?\| `id` \| path, has to be there \|/);
  });
});
