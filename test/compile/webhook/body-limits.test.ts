import { describe, expect, it } from "vitest";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const recompile = () => Promise.reject(new Error("not asked for"));
const app = webhookApp({ store: memoryStore(), secret: "s", sources: ["main"], recompile });

/** A body that says nothing of its length and has no end. */
function endless() {
  let bytes = 0;
  const body = new ReadableStream({
    pull(controller) {
      bytes += 1024 * 1024;
      controller.enqueue(new Uint8Array(1024 * 1024));
    },
  });
  return { body, bytes: () => bytes };
}

describe("a body without end", () => {
  it.each([
    ["POST", "/hooks/recompile", limits.sourceBytes],
    ["POST", "/sources/main", limits.sourceBytes],
    ["PUT", "/objects/sources/main/a", limits.objectBytes],
  ])("%s %s is not read beyond its limit", async (method, path, limit) => {
    const { body, bytes } = endless();
    const response = await app.request(path, { method, body, duplex: "half" });
    // Whoever judges headers first need not read any of it.
    expect([401, 413]).toContain(response.status);
    expect(bytes()).toBeLessThanOrEqual(limit + 2 * 1024 * 1024);
  });
});
