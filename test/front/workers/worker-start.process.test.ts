import { afterEach, describe, expect, it } from "vitest";
import { startWorkers } from "../../../lib/front/workers/processes.ts";

const program = process.execPath;
afterEach(() => {
  process.execPath = program;
});

describe("a worker's process that cannot be started", () => {
  it("fails the start, and does not end the process that starts it", async () => {
    process.execPath = "/nonexistent/node";
    const primary = { join: () => () => {}, headChanged: () => {}, close: () => {} };
    await expect(startWorkers({ count: 1, primary, onDeath: () => {} })).rejects.toThrow(
      "a worker has ended before it served (spawn /nonexistent/node ENOENT)",
    );
  });
});
