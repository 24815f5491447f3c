import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Recompiled } from "../../../lib/compile/recompile.ts";
import { readShard } from "../../../lib/compile/source-shard.ts";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { signHeaders } from "../../../lib/compile/webhook/signature.ts";
import { PortolanError } from "../../../lib/config/diagnostic.ts";
import type { Publishing } from "../../../lib/snapshot/publish.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const secret = "s3cret";
const nowMs = Date.UTC(2026, 0, 1);
const done: Recompiled = { kind: "published", version: "abc", generation: 1, diagnostics: [] };

const service = (name: string) => `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\n`;

function testApp(recompile: (publishing?: Publishing) => Promise<Recompiled> = async () => done) {
  const store = memoryStore();
  let runs = 0;
  const app = webhookApp({
    store,
    secret,
    sources: ["main"],
    now: () => nowMs,
    recompile: (publishing) => {
      runs += 1;
      return recompile(publishing);
    },
  });
  const post = async (path: string, headers: Readonly<Record<string, string>>, body = "") =>
    app.request(path, { method: "POST", headers, body });
  return { store, post, runs: () => runs };
}

const signed = (body = "", key = "k1", atMs = nowMs) => signHeaders(secret, body, key, atMs);

describe("POST /hooks/recompile", () => {
  it("compiles for whoever signs with the secret, and says what came of it", async () => {
    const { post } = testApp();
    const response = await post("/hooks/recompile", await signed("{}"), "{}");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(done);
  });

  it("takes GitHub's signature and delivery id", async () => {
    const { post } = testApp();
    const body = '{"ref":"refs/heads/main"}';
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const headers = { "x-hub-signature-256": signature, "x-github-delivery": "d-1" };
    expect((await post("/hooks/recompile", headers, body)).status).toBe(200);
    expect((await post("/hooks/recompile", headers, body)).status).toBe(409);
  });

  it.each([
    ["no signature", async () => ({}), 401],
    ["another secret", () => signHeaders("other", "", "k", nowMs), 401],
    ["the signature of another body", () => signed("other"), 401],
    ["a signature that is no hex", async () => ({ ...(await signed()), "x-portolan-signature": "sha256=xyz" }), 401],
    ["a stale timestamp", () => signed("", "k", nowMs - 301_000), 401],
    ["a timestamp from the future", () => signed("", "k", nowMs + 301_000), 401],
    ["a timestamp that was not signed", async () => ({ ...(await signed()), "x-portolan-timestamp": "1" }), 401],
    ["no idempotency key", async () => ({ ...(await signed()), "idempotency-key": "" }), 401],
  ])("refuses %s without compiling", async (_what, headers, status) => {
    const { post, runs } = testApp();
    const response = await post("/hooks/recompile", await headers());
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ detail: expect.any(String) });
    expect(runs()).toBe(0);
  });

  it("refuses everybody when it has no secret", async () => {
    const app = webhookApp({ store: memoryStore(), secret: "", sources: [], recompile: async () => done });
    const headers = await signHeaders("x", "", "k", Date.now());
    expect((await app.request("/hooks/recompile", { method: "POST", headers })).status).toBe(401);
  });

  it("acts once for one key", async () => {
    const { post, runs } = testApp();
    expect((await post("/hooks/recompile", await signed())).status).toBe(200);
    expect((await post("/hooks/recompile", await signed())).status).toBe(409);
    expect(runs()).toBe(1);
  });

  it("lets a failed attempt be made again, and says why it failed", async () => {
    let fails = true;
    const { post } = testApp(async () => {
      if (fails) throw new PortolanError("the store is down");
      return done;
    });
    const failed = await post("/hooks/recompile", await signed());
    expect(failed.status).toBe(503);
    expect(await failed.json()).toMatchObject({ detail: "the store is down" });
    fails = false;
    expect((await post("/hooks/recompile", await signed())).status).toBe(200);
  });

  it("says 422 with the diagnostics when the sources hold no configuration", async () => {
    const origin = { key: { group: "", kind: "", name: "", namespace: "" }, file: "a.yaml", line: 1 };
    const diagnostic = { code: "invalid-value", severity: "error", origin, path: [], message: "m", hint: "" } as const;
    const { post } = testApp(async () => {
      throw new PortolanError("nothing can be read", [diagnostic]);
    });
    const response = await post("/hooks/recompile", await signed());
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ diagnostics: [{ code: "invalid-value" }] });
  });
});

describe("POST /sources/<name>", () => {
  it("fills the source before it compiles", async () => {
    const { post, store } = testApp();
    const body = JSON.stringify({
      files: [
        { file: "b.yaml", text: service("b") },
        { file: "a.yaml", text: service("a") },
      ],
    });
    expect((await post("/sources/main", await signed(body), body)).status).toBe(200);
    expect((await readShard(store, "main"))?.files.map(({ file, text }) => [file, text])).toEqual([
      ["a.yaml", service("a")],
      ["b.yaml", service("b")],
    ]);
  });

  it("tells the compiler whom a canary is for, who sent it and why", async () => {
    const asked: unknown[] = [];
    const { post } = testApp(async (publishing) => {
      asked.push(publishing);
      return done;
    });
    const files = [{ file: "a.yaml", text: service("a") }];
    const share = { percent: 10, labels: { track: "canary" } };
    const body = JSON.stringify({ files, share, by: "ci", why: "try" });
    expect((await post("/sources/main", await signed(body), body)).status).toBe(200);
    expect(asked).toEqual([{ by: "ci", why: "try", share }]);
  });

  it("empties a source only when that is said", async () => {
    const { post, store } = testApp();
    const fill = async (body: object, key: string) => {
      const text = JSON.stringify(body);
      return (await post("/sources/main", await signed(text, key), text)).status;
    };
    const files = [{ file: "a.yaml", text: service("a") }];
    expect(await fill({ files }, "1")).toBe(200);
    expect(await fill({ files: [] }, "2")).toBe(422);
    expect(await fill({ files: [{ file: "a.yaml", text: "# nothing\n" }] }, "3")).toBe(422);
    expect((await readShard(store, "main"))?.files).toEqual(files);
    expect(await fill({ files: [], allowEmpty: true }, "4")).toBe(200);
    expect((await readShard(store, "main"))?.files).toEqual([]);
  });

  it.each([
    ["another source", "/sources/other", '{"files":[]}', 404],
    ["broken JSON", "/sources/main", "{", 422],
    ["a file without text", "/sources/main", '{"files":[{"file":"a"}]}', 422],
    ["a share above all", "/sources/main", '{"files":[],"share":{"percent":101}}', 422],
    ["a share by other labels than texts", "/sources/main", '{"files":[],"share":{"percent":1,"labels":{"a":1}}}', 422],
  ])("refuses %s and writes nothing", async (_what, path, body, status) => {
    const { post, store } = testApp();
    expect((await post(path, await signed(body), body)).status).toBe(status);
    expect(await readShard(store, "main")).toBeUndefined();
  });
});
