import type { NoParamCallback } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { createFolderKeeper } from "../../../lib/storage/files/kept-folders.ts";

type Open = (path: string, flags: string, done: (cause: Error | null, file: number) => void) => void;
type Sync = (file: number, done: NoParamCallback) => void;

/** Files that were written to the disk, and folders whose names were, in order. */
const synced = vi.hoisted((): string[] => []);

vi.mock("node:fs", async (original) => {
  const real = await original<typeof import("node:fs")>();
  const paths = new Map<number, string>();
  const open: Open = (path, flags, done) =>
    real.open(path, flags, (cause, file) => {
      paths.set(file, path);
      done(cause, file);
    });
  const fsync: Sync = (file, done) =>
    real.fsync(file, (cause) => {
      if (cause === null) synced.push(paths.get(file) ?? "");
      done(cause);
    });
  return { ...real, open, fsync };
});

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "portolan-kept-"));
  synced.length = 0;
});
afterEach(() => rm(root, { recursive: true, force: true }));

const syncedBelow = () => synced.map((path) => relative(root, path) || ".");

describe("folders that are made", () => {
  it("are there after a power failure: whatever holds the name of a new one is written", async () => {
    const folders = createFolderKeeper(root, true);
    await folders.make(join(root, "blobs", "ab"));
    expect(syncedBelow().sort()).toEqual([".", "blobs"]);
    synced.length = 0;
    await folders.make(join(root, "blobs", "ab"));
    expect(syncedBelow()).toEqual([]);
    await folders.make(join(root, "blobs", "cd"));
    expect(syncedBelow()).toEqual(["blobs"]);
  });

  it("are made once for many who are about to put something in", async () => {
    const folders = createFolderKeeper(root, true);
    await Promise.all(Array.from({ length: 16 }, () => folders.make(join(root, "blobs", "ab"))));
    expect(syncedBelow().sort()).toEqual([".", "blobs"]);
  });

  it("are written by whoever finds them too: the process that made them may have died on the way", async () => {
    await mkdir(join(root, "blobs", "ab"), { recursive: true });
    await createFolderKeeper(root, true).make(join(root, "blobs", "ab"));
    expect(syncedBelow().sort()).toEqual([".", "blobs"]);
  });

  it("are written again when they were deleted in between", async () => {
    const folders = createFolderKeeper(root, true);
    await folders.make(join(root, "HEAD#"));
    await rm(join(root, "HEAD#"), { recursive: true });
    synced.length = 0;
    await folders.makeAgain(join(root, "HEAD#"));
    expect(syncedBelow()).toEqual(["."]);
  });

  it("have their names written once for many who put something in at a time, after the last of them", async () => {
    const folders = createFolderKeeper(root, true);
    const first = folders.keep(root);
    // These come while the first write is under way, which may be too early for them.
    await Promise.all([folders.keep(root), folders.keep(root), folders.keep(root)]);
    await first;
    expect(syncedBelow()).toEqual([".", "."]);
    await folders.keep(root);
    expect(syncedBelow()).toEqual([".", ".", "."]);
  });

  it("include the root itself, when that is new", async () => {
    await createFolderKeeper(join(root, "new", "store"), true).make(join(root, "new", "store", "blobs"));
    expect(syncedBelow().sort()).toEqual([".", "new", "new/store"]);
  });

  it("are left to the system in a store to throw away", async () => {
    const folders = createFolderKeeper(root, false);
    await folders.make(join(root, "blobs", "ab"));
    await folders.keep(join(root, "blobs", "ab"));
    expect(syncedBelow()).toEqual([]);
  });
});

describe("an object that is acknowledged", () => {
  it("has its bytes, its name and every folder above it on the disk", async () => {
    await fileStore(join(root, "store")).put("blobs/ab/abcd", new TextEncoder().encode("x"), { ifNoneMatch: "*" });
    const [draft, ...folders] = syncedBelow();
    expect(draft).toMatch(/^store\/\.tmp\//);
    expect(folders).toEqual(expect.arrayContaining(["store", "store/blobs", "store/blobs/ab"]));
    // The name last: it must not be there before what it names.
    expect(folders.at(-1)).toBe("store/blobs/ab");
  });

  it("has them where its folder was taken away since this process made it", async () => {
    const store = fileStore(join(root, "store"));
    const put = (key: string) => store.put(key, new TextEncoder().encode("x"), { ifNoneMatch: "*" });
    await put("blobs/ab/abcd");
    await rm(join(root, "store", "blobs"), { recursive: true });
    synced.length = 0;
    expect(await put("blobs/ab/abce")).toMatchObject({ kind: "stored" });
    expect(syncedBelow().slice(1)).toEqual(expect.arrayContaining(["store", "store/blobs", "store/blobs/ab"]));
  });

  it("has its name there too where somebody else put it, who may not have come so far", async () => {
    const put = () =>
      fileStore(join(root, "store")).put("blobs/ab/abcd", new TextEncoder().encode("x"), { ifNoneMatch: "*" });
    await put();
    synced.length = 0;
    expect(await put()).toEqual({ kind: "lost" });
    expect(syncedBelow().at(-1)).toBe("store/blobs/ab");
  });
});

describe("objects that are put together", () => {
  const key = (n: number) => `blobs/a${n % 2}/${n}`;

  it("have the names in each folder written once, at their end, and those that were found too", async () => {
    const store = fileStore(join(root, "store"));
    await store.put(key(0), new TextEncoder().encode("x"), { ifNoneMatch: "*" });
    await store.put(key(1), new TextEncoder().encode("x"), { ifNoneMatch: "*" });
    synced.length = 0;
    const together = store.together?.();
    const put = (n: number) => store.put(key(n), new TextEncoder().encode("x"), { ifNoneMatch: "*", together });
    expect(await Promise.all([0, 1, 3, 5].map(put))).toMatchObject(
      ["lost", "lost", "stored", "stored"].map((kind) => ({ kind })),
    );
    expect(syncedBelow().filter((path) => !path.startsWith("store/.tmp/"))).toEqual([]);
    await together?.kept();
    const folders = syncedBelow().filter((path) => !path.startsWith("store/.tmp/"));
    expect(folders.sort()).toEqual(["store/blobs/a0", "store/blobs/a1"]);
  });

  it("are each kept at once by a store that does not know what they are put together with", async () => {
    const { together } = fileStore(join(root, "other"));
    const store = fileStore(join(root, "store"));
    await store.put(key(0), new TextEncoder().encode("x"), { ifNoneMatch: "*", together: together?.() });
    expect(syncedBelow().at(-1)).toBe("store/blobs/a0");
  });
});
