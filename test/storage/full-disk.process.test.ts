import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, type TestContext } from "vitest";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { mountSmallDisk } from "../small-disk.ts";
import { worldOf } from "../snapshot/worlds.ts";

const pace = { settleMs: 0, retentionMs: 0 };

const folders: string[] = [];
const mounted: string[] = [];

/** Full soon, and no disk of anybody's. */
function mountSmall(context: TestContext): { readonly folder: string; grow(): void } {
  const folder = mkdtempSync(join(tmpdir(), "portolan-full-"));
  folders.push(folder);
  mountSmallDisk(context, folder, "800k");
  mounted.push(folder);
  return { folder, grow: () => void execFileSync("mount", ["-o", "remount,size=4m", folder]) };
}

afterAll(() => {
  // Lazily: writes that were under way when another one failed may still be.
  for (const folder of mounted) execFileSync("umount", ["--lazy", folder]);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const world = (i: number) => {
  const clusters = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`c${n}`, `${i} ${"x".repeat(600)}`]));
  return worldOf({ web: { clusters } });
};

/** Publishes until the disk is full. @returns how often that went well */
async function fill(store: ObjectStore): Promise<number> {
  const publisher = createPublisher(store, { pace });
  for (let i = 0; i < 100; i += 1) {
    try {
      await publisher.publish(world(i), await publisher.head());
    } catch (cause) {
      expect(String(cause)).toMatch(/ENOSPC.*; `portolan gc` makes room; or enlarge the disk$/);
      return i;
    }
  }
  throw new Error("the disk is never full");
}

describe("a store on a full disk", () => {
  it("fails publishes with a reason, stays whole, and takes them again when there is room", async (context) => {
    const disk = mountSmall(context);
    const store = fileStore(disk.folder);
    const published = await fill(store);
    expect(published).toBeGreaterThan(3);
    expect(await fsck(store)).toMatchObject({ publications: published, problems: [] });
    expect(await readdir(join(disk.folder, ".tmp"))).toEqual([]);
    disk.grow();
    const publisher = createPublisher(store, { pace });
    expect(await publisher.publish(world(200), await publisher.head())).toMatchObject({ kind: "published" });
    expect((await fsck(store)).problems).toEqual([]);
  });

  it("is cleared by collecting garbage, and takes publishes again", async (context) => {
    const disk = mountSmall(context);
    const published = await fill(fileStore(disk.folder));
    const keep = { keepPublications: 2, graceMs: 0, now: Date.now };
    const collected = [];
    for (let run = 0; run < 2; run += 1) collected.push(await collectGarbage(fileStore(disk.folder), keep));
    expect(collected).toMatchObject([{ done: true }, { done: true }]);
    expect(collected[1]?.deleted).toBeGreaterThan(0);
    const store = fileStore(disk.folder);
    expect((await fsck(store)).problems).toEqual([]);
    expect(await fill(store)).toBeGreaterThan(published / 2);
  });
});
