import { EventEmitter, once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchFolder } from "../../../lib/config/folder/folder.ts";

/** When the system's watches are used up: at once, or after a while. */
const fails = vi.hoisted(() => ({ afterReady: false }));

vi.mock("chokidar", async (original) => {
  const real = await original<typeof import("chokidar")>();
  return {
    ...real,
    watch(...[paths, options = {}]: Parameters<typeof real.watch>) {
      if (options.usePolling === true) return real.watch(paths, options);
      const watcher = Object.assign(new EventEmitter(), { close: async () => {} });
      const none = () =>
        watcher.emit("error", Object.assign(new Error("ENOSPC: no watch left"), { code: "ENOSPC", syscall: "watch" }));
      setImmediate(() => {
        if (fails.afterReady) watcher.emit("ready");
        setImmediate(() => [none(), none()]);
      });
      return watcher;
    },
  };
});

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-watch-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("watching a folder where the system has no watch to give", () => {
  it.each([
    ["from the beginning", false],
    ["after a while", true],
  ])(
    "looks at its files instead, %s",
    async (_when, afterReady) => {
      fails.afterReady = afterReady;
      let calls = 0;
      const called = new EventEmitter();
      const first = once(called, "call");
      const stop = await watchFolder(folder, () => {
        calls += 1;
        called.emit("call");
      });
      // What happened between the two is not known, so it is called for.
      await first;
      expect(calls).toBe(1);
      const second = once(called, "call");
      await writeFile(join(folder, "a.yaml"), "a: 1\n");
      await second;
      await stop();
    },
    120_000,
  );
});
