import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { fileStore } from "../../../lib/storage/files/files.ts";

vi.mock("node:fs", async (original) => ({
  ...(await original<typeof import("node:fs")>()),
  watch() {
    throw Object.assign(new Error("ENOSPC: System limit for number of file watchers reached"), { code: "ENOSPC" });
  },
}));

describe("a system that has no watch to give", () => {
  it("is looked at instead: every write of HEAD is seen within a second or so", async () => {
    const directory = await mkdtemp(join(tmpdir(), "portolan-watch-"));
    const store = fileStore(directory);
    let wake = () => {};
    const stop = store.watch?.("HEAD", () => wake());
    for (const value of ["1", "2", "3"]) {
      const called = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await store.put("HEAD", new TextEncoder().encode(value));
      await called;
    }
    stop?.();
    expect(await store.get("HEAD")).toMatchObject({ kind: "found" });
    await rm(directory, { recursive: true, force: true });
  });
});
