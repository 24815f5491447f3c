import { describe, expect, it } from "vitest";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { objectSigner } from "../../../lib/compile/webhook/object-signature.ts";
import { signRequest } from "../../../lib/compile/webhook/signature.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { limits } from "../../../lib/limits/limits.ts";
import type { StoreRequest } from "../../../lib/storage/http.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const secret = "s3cret";
const nowMs = Date.UTC(2026, 0, 1);
const bytes = (text: string) => new TextEncoder().encode(text);
const key = "/sources/main/ledger/head";

function testApp() {
  const store = memoryStore();
  const recompile = async () => ({ kind: "published", version: "v", generation: 1, diagnostics: [] }) as const;
  const secrets = { ...noSecrets, operators: [secret], sources: new Map([["team", ["team secret"]]]) };
  return { store, app: webhookApp({ store, recompile, secrets, sources: ["main", "team"], now: () => nowMs }) };
}

const aRequest = (change: Partial<StoreRequest> = {}): StoreRequest => ({
  method: "GET",
  target: key,
  condition: {},
  body: new Uint8Array(),
  ...change,
});

/** What goes over the wire, so that it can be sent twice or be tampered with. */
async function signed(change: Partial<StoreRequest>, atMs = nowMs) {
  const request = aRequest(change);
  const headers = { ...request.condition, ...(await objectSigner(secret, undefined, () => atMs)(request)) };
  const { method, target, body } = request;
  return { path: `/objects${target}`, init: { method, headers, ...(method === "PUT" ? { body } : {}) } };
}

const put = (text: string, condition = {}) => signed({ method: "PUT", body: bytes(text), condition });

describe("/objects", () => {
  it.each([
    "/snapshots/HEAD",
    "/hooks/k",
    "/sources/other/list",
    "/sources/mainly/list",
    "/sources",
    "/?prefix=",
    "/?prefix=sources/",
    "/?prefix=sources/other/",
  ])("hides %s", async (target) => {
    const { store, app } = testApp();
    await store.put("snapshots/HEAD", bytes("secret"));
    const { path, init } = await signed({ target });
    expect([400, 403]).toContain((await app.request(path, init)).status);
  });

  it.each(["GET", "PUT", "DELETE"] as const)("knows no object that ends like a folder: %s", async (method) => {
    const { path, init } = await signed({ method, target: "/sources/main/a/" });
    const { app } = testApp();
    expect((await app.request(path, init)).status).toBe(400);
  });

  it.each([
    "/sources/main/..%2F..%2Fsnapshots/HEAD",
    "/sources/main/%252e%252e/x",
    "/sources/main//x",
    "/sources/main/%E0%A4%A",
    "/?prefix=sources/main/../../snapshots/",
  ])("takes no way around: %s", async (target) => {
    const { app } = testApp();
    const { path, init } = await signed({ target });
    expect((await app.request(path, init)).status).not.toBe(200);
  });

  it.each([
    ["another method", { method: "DELETE" }, key],
    ["another object", {}, "/sources/main/b"],
    ["another list", {}, `${key}?prefix=x`],
  ])("refuses a signature that was made for %s", async (_what, init, target) => {
    const { app } = testApp();
    const one = await signed({});
    const response = await app.request(`/objects${target}`, { ...one.init, ...init });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ detail: "the signature is wrong" });
  });

  it("refuses a write whose body, condition or delivery was changed", async () => {
    const { store, app } = testApp();
    const { path, init } = await put("mine", { "if-match": '"m1"' });
    const { "if-match": _condition, ...unconditional } = init.headers as Record<string, string>;
    const tampered = [
      { ...init, body: bytes("theirs") },
      { ...init, headers: unconditional },
      { ...init, headers: { ...init.headers, "idempotency-key": "another" } },
    ];
    for (const one of tampered) expect((await app.request(path, one)).status).toBe(401);
    expect(await store.get("sources/main/ledger/head")).toEqual({ kind: "absent" });
  });

  it("refuses what is unsigned, stale, or signed as a webhook", async () => {
    const { app } = testApp();
    const reason = async (path: string, init: RequestInit) => {
      const response = await app.request(path, init);
      expect(response.status).toBe(401);
      return JSON.stringify(await response.json());
    };
    const stale = await signed({}, nowMs - 301_000);
    expect(await reason(stale.path, stale.init)).toContain("300 s away");
    expect(await reason(stale.path, {})).toContain("not signed");
    expect(await reason(stale.path, { headers: { "x-hub-signature-256": "sha256=00" } })).toContain("not signed");
    expect(
      await reason(stale.path, {
        headers: await signRequest(
          secret,
          { method: "GET", target: "/hooks/recompile", body: new Uint8Array() },
          "k",
          nowMs,
        ),
      }),
    ).toContain("wrong");
  });

  it("takes every write once, whatever became of the object since", async () => {
    const { store, app } = testApp();
    const create = await put("1", { "if-none-match": "*" });
    expect((await app.request(create.path, create.init)).status).toBe(204);
    const late = await put("late", { "if-none-match": "*" });
    expect((await app.request(late.path, late.init)).status).toBe(412);
    const remove = await signed({ method: "DELETE" });
    expect((await app.request(remove.path, remove.init)).status).toBe(204);
    for (const { path, init } of [create, late]) expect((await app.request(path, init)).status).toBe(409);
    expect(await store.get("sources/main/ledger/head")).toEqual({ kind: "absent" });

    const replace = await put("2");
    expect((await app.request(replace.path, replace.init)).status).toBe(204);
    await store.put("sources/main/ledger/head", bytes("3"));
    for (const { path, init } of [replace, remove]) expect((await app.request(path, init)).status).toBe(409);
    expect((await store.get("sources/main/ledger/head")).kind).toBe("found");
  });

  it("gives a source's objects to who holds its secret, and no other's", async () => {
    const { app } = testApp();
    const status = async (target: string) => {
      const headers = await objectSigner("team secret", undefined, () => nowMs)(aRequest({ target }));
      return (await app.request(`/objects${target}`, { headers })).status;
    };
    expect(await status("/?prefix=sources/team/")).toBe(200);
    expect(await status("/?prefix=sources/main/")).toBe(401);
    expect(await status("/sources/main/ledger/head")).toBe(401);
  });

  it("stores no Secret with a value, whatever the object is called", async () => {
    const { store, app } = testApp();
    const { path, init } = await put('{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"a":"Yw=="}}');
    expect((await app.request(path, init)).status).toBe(422);
    expect(await store.get("sources/main/ledger/head")).toEqual({ kind: "absent" });
  });

  it("takes no object above its limit", async () => {
    const { app } = testApp();
    const { path, init } = await signed({ method: "PUT", body: new Uint8Array(limits.objectBytes + 1) });
    expect((await app.request(path, init)).status).toBe(413);
  });
});
