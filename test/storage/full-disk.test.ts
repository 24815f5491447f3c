import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fsck } from "../../lib/snapshot/fsck.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { fileStore } from "../../lib/storage/files.ts";
import { worldOf } from "../snapshot/worlds.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-full-"));
let mounted = false;

beforeAll(() => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=600k", "tmpfs", folder], { stdio: "ignore" });
    mounted = true;
  } catch {
    console.warn("no test of a full disk: mounting a small file system needs root");
  }
});

afterAll(() => {
  if (mounted) execFileSync("umount", [folder]);
  rmSync(folder, { recursive: true, force: true });
});

const world = (i: number) => {
  const clusters = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`c${n}`, `${i} ${"x".repeat(600)}`]));
  return worldOf({ web: { clusters } });
};

describe("a store on a full disk", () => {
  it("fails publishes with a reason, stays whole, and takes them again when there is room", async (context) => {
    if (!mounted) return context.skip();
    const store = fileStore(folder);
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
    let published = 0;
    const publishAll = async () => {
      for (let i = 0; i < 100; i += 1) {
        await publisher.publish(world(i), await publisher.head());
        published += 1;
      }
    };
    await expect(publishAll()).rejects.toThrow("ENOSPC");
    expect(published).toBeGreaterThan(3);
    expect(await fsck(store)).toMatchObject({ publications: published, problems: [] });
    execFileSync("mount", ["-o", "remount,size=4m", folder]);
    expect(await publisher.publish(world(200), await publisher.head())).toMatchObject({ kind: "published" });
    expect((await fsck(store)).problems).toEqual([]);
  });
});
