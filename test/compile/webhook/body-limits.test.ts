import { describe, expect, it } from "vitest";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { signRequest } from "../../../lib/compile/webhook/signature.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const recompile = () => Promise.reject(new Error("not asked for"));
const secrets = { ...noSecrets, operators: ["s"] };
const app = webhookApp({ store: memoryStore(), secrets, sources: ["main"], recompile });

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
    ["POST", "/hooks/recompile", limits.noticeBytes],
    ["POST", "/sources/main", limits.sourceBytes],
    ["PUT", "/objects/sources/main/a", limits.objectBytes],
  ])("%s %s is not read beyond its limit, whoever has signed it", async (method, target, limit) => {
    const { body, bytes } = endless();
    const headers = await signRequest("s", { method, target, body: new Uint8Array() }, "k", Date.now());
    const response = await app.request(target, { method, headers, body, duplex: "half" });
    expect(response.status).toBe(413);
    expect(bytes()).toBeLessThanOrEqual(limit + 2 * 1024 * 1024);
  });
});
