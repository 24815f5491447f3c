import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { envoyLog } from "../../../lib/agent/envoy/envoy-log.ts";

const stamp = "[2026-11-27 19:34:20.668][22755]";
const abort = [
  `${stamp}[warning][main] [source/server/server.cc:1059] no limit`,
  `${stamp}[critical][assert] [source/common/filesystem/inotify/watcher_impl.cc:21] assert failure: inotify_fd_ >= 0. Details: Consider increasing value of user.max_inotify_watches via sysctl`,
  `${stamp}[critical][backtrace] [./source/server/backtrace.h:127] Caught Aborted, suspect faulting address 0x539`,
  `${stamp}[critical][backtrace] [./source/server/backtrace.h:111] Backtrace (use tools/stack_decode.py to get line numbers):`,
  `${stamp}[critical][backtrace] [./source/server/backtrace.h:121] #0: gsignal [0x7f53c8b6ee2c]`,
  `${stamp}[critical][backtrace] [./source/server/backtrace.h:121] #1: Envoy::throwExceptionOrPanic() [0x55d0]`,
  "ConnectionImpl 0x1234, connecting_: 0, error_: 1",
];

describe("an Envoy's log", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-log-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const lastError = async (lines: readonly string[]) => {
    const path = join(folder, "envoy.log");
    const passed: string[] = [];
    const log = await envoyLog(path, (line) => passed.push(line));
    await writeFile(path, `${lines.join("\n")}\n`);
    await log.read();
    await log.read();
    expect(passed).toEqual(lines);
    return log.lastError();
  };

  it("says which assertion failed, and quotes no stack frame", async () => {
    expect(await lastError(abort)).toBe(
      "assert failure: inotify_fd_ >= 0. Details: Consider increasing value of user.max_inotify_watches via sysctl",
    );
  });

  it("says the last error before a signal, where no assertion failed", async () => {
    const [, , ...trace] = abort;
    expect(await lastError([`${stamp}[error][main] [source/server/server.cc:1] cannot bind`, ...trace])).toBe(
      "cannot bind",
    );
    expect(await lastError(["[error] out of luck"])).toBe("[error] out of luck");
  });

  it("says nothing where there is nothing but a stack", async () => {
    expect(await lastError(abort.slice(2))).toBeUndefined();
  });
});
