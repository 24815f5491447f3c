import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAgentFolder } from "../../lib/agent/files/agent-folder.ts";
import { collectionOf, type Entries } from "../../lib/agent/files/envoy-files.ts";
import { leafPath } from "../../lib/agent/files/leaf-path.ts";
import { hashOf } from "../../lib/snapshot/blob.ts";

const file = (content: string) => {
  const entries: Entries = new Map([["a", { text: JSON.stringify({ name: "a", content }), references: [] }]]);
  return collectionOf(entries);
};

/** Whether a file system of a few pages can be mounted here. */
function canMount(folder: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("the folder of an agent", () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "portolan-folder-"));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const put = async (content: string, isRunning = true) => {
    const { folder } = await openAgentFolder(root, isRunning);
    const staged = await folder.stage(new Map([["cds.json", file(content)]]));
    await staged.put("cds.json");
    return folder;
  };
  const current = () => readFile(join(root, "cds.json"), "utf8");

  it("comes back to what Envoy had taken when nobody reads what was written after it", async () => {
    await (await put("taken")).keep("cds.json");
    await put("written");
    expect(await current()).toContain("written");
    await openAgentFolder(root, true);
    expect(await current()).toContain("written");
    await openAgentFolder(root, false);
    expect(await current()).toContain("taken");
  });

  it("clears away what a killed agent has not finished", async () => {
    await put("a");
    await writeFile(join(root, "cds.json.1234.draft"), "half");
    await openAgentFolder(root, true);
    expect((await readdir(root)).filter((name) => name.endsWith(".draft"))).toEqual([]);
  });

  it("says which file is not whole, where none is before it", async () => {
    await writeFile(join(root, "cds.json"), file("a").text.slice(0, 60));
    const { damaged } = await openAgentFolder(root, false);
    expect(damaged).toEqual(["cds.json is not whole, and there is none before it"]);
  });

  it("changes nothing on a disk that is full, and says so", async (context) => {
    if (!canMount(root)) context.skip("needs root and tmpfs, for a disk that fills up");
    try {
      const folder = await put("small");
      const files = new Map([
        [leafPath("eds", "b"), file("b")],
        ["cds.json", file("x".repeat(200_000))],
      ]);
      await expect(folder.stage(files)).rejects.toThrow(/the disk is full; Envoy keeps what it has/);
      expect(await current()).toContain("small");
      expect(await readdir(join(root, "eds"))).toEqual([]);
      const staged = await folder.stage(new Map([["cds.json", file("again")]]));
      await staged.put("cds.json");
      expect(await current()).toContain("again");
    } finally {
      execFileSync("umount", [root]);
    }
  });
});

describe("leafPath", () => {
  it("stays in its folder, whatever a resource is called, and tells names apart", () => {
    const names = ["../../etc/passwd", "a|b", "a/b", "a_b", ".", "", "x".repeat(500), "ä"];
    const paths = names.map((name) => leafPath("rds", name));
    expect(new Set(paths).size).toBe(names.length);
    for (const [at, path] of paths.entries()) {
      expect(path).toMatch(/^rds\/[A-Za-z0-9][A-Za-z0-9._-]*\.json$|^rds\/-[0-9a-f]{16}\.json$/);
      expect(path).toContain(hashOf(names[at] ?? "").slice(0, 16));
      expect(path.length).toBeLessThan(150);
    }
  });
});
