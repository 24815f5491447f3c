import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const page = readFileSync(new URL("../../../docs/security.md", import.meta.url), "utf8");
const script = /### Signed by hand\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? "";

const run = promisify(execFile);

describe("a request that is signed by hand, as docs/security.md has it", () => {
  it("asks for a compile, and with another secret for nothing", async () => {
    let compiles = 0;
    const app = webhookApp({
      store: memoryStore(),
      secrets: { ...noSecrets, operators: ["s3cret"] },
      sources: ["main"],
      recompile: async () => {
        compiles += 1;
        return { kind: "published", version: "abc", generation: 1, diagnostics: [] };
      },
    });
    const { url, close } = await serveHttp(app, 0);
    const send = (secret: string) =>
      run("sh", ["-c", script], { env: { ...process.env, PORTOLAN_URL: url, PORTOLAN_WEBHOOK_SECRET: secret } });
    try {
      expect(JSON.parse((await send("s3cret")).stdout)).toMatchObject({ kind: "published", generation: 1 });
      expect(compiles).toBe(1);
      await expect(send("another")).rejects.toMatchObject({
        stdout: expect.stringContaining("the signature is wrong"),
      });
      expect(compiles).toBe(1);
    } finally {
      await close();
    }
  });
});
