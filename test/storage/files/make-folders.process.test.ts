import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { makeFolders } from "../../../lib/storage/files/make-folders.ts";
import { lacks } from "../../skip.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "portolan-folders-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe("a folder that is made with all above it", () => {
  it("says which was made first, and nothing where all are there", async () => {
    expect(await makeFolders(join(root, "a/b/c"))).toBe(join(root, "a"));
    expect(await makeFolders(join(root, "a/b/d"))).toBe(join(root, "a/b/d"));
    expect(await makeFolders(join(root, "a/b"))).toBeUndefined();
    const both = await Promise.all([makeFolders(join(root, "x/y")), makeFolders(join(root, "x/y"))]);
    expect(both.some((first) => first === join(root, "x"))).toBe(true);
  });

  it("fails where a file is in its way", async () => {
    await writeFile(join(root, "file"), "");
    await expect(makeFolders(join(root, "file"))).rejects.toThrow("EEXIST");
    await expect(makeFolders(join(root, "file/below"))).rejects.toThrow("ENOTDIR");
  });

  it.skipIf(lacks(existsSync("/proc/self"), "/proc"))(
    "fails where a file system makes none, and a store there with it",
    async () => {
      await expect(makeFolders("/proc/nowhere/below")).rejects.toThrow("ENOENT");
      await expect(fileStore("/proc/nowhere").put("a", new Uint8Array())).rejects.toThrow(
        "file store /proc/nowhere: Error: ENOENT",
      );
    },
  );
});
