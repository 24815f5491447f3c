import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const library = new URL("../../lib/incremental/", import.meta.url);

it("the example of the README prints what the README says", () => {
  const text = readFileSync(new URL("README.md", library), "utf8");
  const [, code = ""] = /```ts\n(.*?)```/s.exec(text) ?? [];
  const [, printed] = /```text\n(.*?)```/s.exec(text) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "incremental-"));
  try {
    const file = join(folder, "example.ts");
    writeFileSync(file, code.replaceAll('from "./', `from "${library.href}`));
    expect(execFileSync(process.execPath, [file], { encoding: "utf8" })).toBe(printed);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
