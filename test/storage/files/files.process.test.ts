import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { storeContract } from "../contract.ts";

async function openFiles() {
  const directory = await mkdtemp(join(tmpdir(), "portolan-files-"));
  return {
    directory,
    store: fileStore(directory),
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

storeContract("files", openFiles);

describe("fileStore", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  it("is shared by two instances on one folder, as by two processes", async () => {
    const { directory, store, close } = await openFiles();
    const other = fileStore(directory);
    const first = await store.put("HEAD", bytes("1"));
    const etag = first.kind === "stored" ? first.etag : "";
    const results = await Promise.all([
      store.put("HEAD", bytes("a"), { ifMatch: etag }),
      other.put("HEAD", bytes("b"), { ifMatch: etag }),
    ]);
    expect(results.map((result) => result.kind).sort()).toEqual(["lost", "stored"]);
    await close();
  });

  it("never repeats an etag when the same bytes come back", async () => {
    const { store, close } = await openFiles();
    const tags = new Set<string>();
    for (const value of ["a", "b", "a", "b", "a"]) {
      const put = await store.put("HEAD", bytes(value));
      if (put.kind === "stored") tags.add(put.etag);
    }
    expect(tags.size).toBe(5);
    await close();
  });

  it("takes a folder in the place of an object for none, and costs nothing but that key", async () => {
    const { store, close } = await openFiles();
    await store.put("b/list/x", bytes("hello"));
    expect(await store.get("b/list")).toEqual({ kind: "absent" });
    expect(await store.get("b/list/x/y")).toEqual({ kind: "absent" });
    expect(await store.folders("b/list/x/")).toEqual([]);
    await store.delete("b/list");
    await store.delete("b/list/x/y");
    for (const condition of [{}, { ifNoneMatch: "*" } as const])
      await expect(store.put("b/list", bytes("1"), condition)).rejects.toThrow("folder with objects in it");
    await expect(store.put("b/list", bytes("1"), { ifMatch: "0-a" })).resolves.toEqual({ kind: "lost" });
    for (const key of ["b/list/x/y", "b/list/x/y/z"])
      await expect(store.put(key, bytes("1"))).rejects.toThrow("cannot be a folder: it, or a parent of it, is a file");
    expect((await store.get("b/list/x")).kind).toBe("found");
    await close();
  });

  it("puts an object in the place of a folder that everything was deleted from", async () => {
    const { store, close } = await openFiles();
    for (const key of ["b/list/x", "b/list/y/z"]) {
      await store.put(key, bytes("hello"));
      await store.put(key, bytes("hello again"));
      await store.delete(key);
    }
    expect((await store.put("b/list", bytes("1"), { ifNoneMatch: "*" })).kind).toBe("stored");
    expect((await store.put("b/list", bytes("2"))).kind).toBe("stored");
    await store.delete("b/list");
    expect((await store.put("b/list/x", bytes("3"))).kind).toBe("stored");
    await close();
  });

  it("shows no draft that a killed writer left, and leaves none itself", async () => {
    const { directory, store, close } = await openFiles();
    await store.put("blobs/a", bytes("1"));
    await writeFile(join(directory, ".tmp", "half"), "ha");
    const keys: string[] = [];
    for await (const { key } of store.list("")) keys.push(key);
    expect(keys).toEqual(["blobs/a"]);
    expect(await readdir(join(directory, ".tmp"))).toEqual(["half"]);
    await close();
  });

  it("lists by the names of keys where folders stand among objects", async () => {
    const { store, close } = await openFiles();
    const names = ["a", "b/1", "b/2", "c", "d", "e", "f/1", "g/1", "h"];
    for (const name of names) await store.put(name, bytes(name));
    const keys: string[] = [];
    for await (const { key } of store.list("")) keys.push(key);
    expect(keys).toEqual(names);
    await close();
  });

  it("takes backups and what a network file system leaves behind for no versions", async () => {
    const { directory, store, close } = await openFiles();
    await store.put("HEAD", bytes("1"));
    await store.put("HEAD", bytes("2"));
    for (const name of ["1.bak", "2.swp", ".nfs0001", "007", "9e9", "12~"]) {
      await writeFile(join(directory, "HEAD#", name), "rubbish");
    }
    const found = await store.get("HEAD");
    const put = await store.put("HEAD", bytes("3"), { ifMatch: found.kind === "found" ? found.etag : "" });
    expect(put.kind).toBe("stored");
    expect(await store.get("HEAD")).toMatchObject({ bytes: bytes("3") });
    await close();
  });

  it("names the store in an error of a list, as in one of any other call", async () => {
    const { directory, close } = await openFiles();
    const path = join(directory, "mesh");
    await writeFile(path, "no folder");
    const list = fileStore(path).list("")[Symbol.asyncIterator]();
    const failure = await list.next().catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(PortolanError);
    expect(String(failure)).toContain(`file store ${path}: Error: ENOTDIR`);
    await close();
  });

  it("says so when a version is listed and cannot be read, and does not look for ever", async () => {
    const { directory, store, close } = await openFiles();
    await store.put("HEAD", bytes("1"));
    await store.put("HEAD", bytes("2"));
    await symlink(join(directory, "nowhere"), join(directory, "HEAD#", "7"));
    await expect(store.get("HEAD")).rejects.toThrow("is listed, and cannot be read");
    await close();
  });

  it("calls a watcher back after every write, the first one included", async () => {
    const { directory, store, close } = await openFiles();
    let wake = () => {};
    const stop = fileStore(directory).watch?.("HEAD", () => wake());
    for (const value of ["1", "2", "3"]) {
      const called = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await store.put("HEAD", bytes(value));
      await called;
    }
    stop?.();
    await close();
  });

  it("says which store failed when a key is another one's folder", async () => {
    const { directory, store, close } = await openFiles();
    await store.put("a", bytes("1"));
    await expect(store.put("a/b", bytes("2"))).rejects.toThrow(`file store ${directory}`);
    await close();
  });

  it("goes on writing when its folders were taken away and put back without those that are hidden", async () => {
    const { directory, store, close } = await openFiles();
    await store.put("a/b", bytes("1"));
    await rm(join(directory, ".tmp"), { recursive: true });
    expect((await store.put("a/c", bytes("2"))).kind).toBe("stored");
    await close();
  });

  it("is not begun anew where it was taken away as a whole: it may come back there", async () => {
    const { directory, store, close } = await openFiles();
    await store.put("a/b", bytes("1"));
    await rm(directory, { recursive: true });
    await expect(store.put("a/c", bytes("2"))).rejects.toThrow(`file store ${directory}: Error: ENOENT`);
    await expect(readdir(directory)).rejects.toThrow("ENOENT");
    await close();
  });

  it("is never begun by who says that it is somebody else's, also with the first thing that is put", async () => {
    const { directory, store, close } = await openFiles();
    const others = fileStore(directory, { isThere: true });
    await store.put("a/b", bytes("1"));
    await rm(directory, { recursive: true });
    await expect(others.put("records/a", bytes("2"))).rejects.toThrow(`file store ${directory}: Error: ENOENT`);
    await expect(readdir(directory)).rejects.toThrow("ENOENT");
    await fileStore(directory).put("a/b", bytes("1"));
    expect((await others.put("records/a", bytes("2"))).kind).toBe("stored");
    await close();
  });

  it("puts and deletes an object that others delete and put meanwhile", async () => {
    const { store, close } = await openFiles();
    const putting = { isOver: false };
    const put = async () => {
      for (let at = 0; at < 300; at += 1) await store.put("key", bytes(String(at)));
      putting.isOver = true;
    };
    const remove = async () => {
      while (!putting.isOver) await store.delete("key");
    };
    await Promise.all([put(), remove(), remove()]);
    await store.put("key", bytes("last"));
    expect((await store.get("key")).kind).toBe("found");
    await close();
  });
});
