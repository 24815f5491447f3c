import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchFolder } from "../../../lib/config/folder/folder.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "portolan-links-"));
});
afterEach(() => rm(root, { recursive: true }));

describe("watching a folder", () => {
  it("follows no link to another folder, as reading it does not, and goes on by a link to itself", async () => {
    const [folder, outside] = [join(root, "mesh"), join(root, "outside")];
    await mkdir(folder);
    await mkdir(outside);
    await writeFile(join(folder, "a.yaml"), "a");
    await symlink(outside, join(folder, "link"));
    await symlink(outside, join(folder, "link.yaml"));
    await symlink(join(folder, "loop.yaml"), join(folder, "loop.yaml"));
    await symlink("mesh", join(root, "current"));
    let calls = 0;
    const end = await watchFolder(join(root, "current"), () => {
      calls += 1;
    });
    try {
      await writeFile(join(outside, "b.yaml"), "b");
      await appendFile(join(folder, "a.yaml"), "more");
      await vi.waitFor(() => expect(calls).toBeGreaterThan(0), { timeout: 10_000 });
      await sleep(500);
      expect(calls).toBe(1);
    } finally {
      await end();
    }
  });
});
