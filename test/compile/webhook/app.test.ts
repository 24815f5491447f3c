import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import { createCollector } from "../../../lib/collect/collector.ts";
import type { Recompiled } from "../../../lib/compile/recompile/recompiled.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { readNewestStatuses } from "../../../lib/compile/statuses/newest-statuses.ts";
import { joinAttributions } from "../../../lib/compile/triggers/lease-note.ts";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { signRequest } from "../../../lib/compile/webhook/signature.ts";
import { noSecrets, type WebhookSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import type { OriginObject } from "../../../lib/registry/origin/origin.ts";
import { createPublisher, type Publishing } from "../../../lib/snapshot/publish.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { FakeOrigin } from "../../collect/fake-origin.ts";
import { worldOf } from "../../snapshot/worlds.ts";

const secret = "s3cret";
const nowMs = Date.UTC(2026, 0, 1);
const done: Recompiled = { kind: "published", version: "abc", generation: 1, diagnostics: [] };

const service = (name: string) => `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\n`;

function testApp(
  recompile: (publishing?: Publishing) => Promise<Recompiled> = async () => done,
  {
    secrets = { ...noSecrets, operators: [secret] },
    store = memoryStore(),
    now = () => nowMs,
  }: { readonly secrets?: WebhookSecrets; readonly store?: ObjectStore; readonly now?: () => number } = {},
) {
  let runs = 0;
  const app = webhookApp({
    store,
    secrets,
    sources: ["main"],
    now,
    recompile: (publishing) => {
      runs += 1;
      return recompile(publishing);
    },
  });
  const post = async (path: string, headers: Readonly<Record<string, string>>, body = "") =>
    app.request(path, { method: "POST", headers, body });
  return { app, store, post, runs: () => runs };
}

/** Headers of a POST, signed. */
const sign = (key: string, target: string, body = "", delivery = "k1", atMs = nowMs) =>
  signRequest(key, { method: "POST", target, body: new TextEncoder().encode(body) }, delivery, atMs);
const signed = (body = "", delivery = "k1", atMs = nowMs) => sign(secret, "/hooks/recompile", body, delivery, atMs);

const githubSignature = (body: string) => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

describe("POST /hooks/recompile", () => {
  it("compiles for whoever signs with the secret, and says what came of it", async () => {
    const { post } = testApp();
    const response = await post("/hooks/recompile", await signed("{}"), "{}");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(done);
  });

  it.each([
    ["no signature", async () => ({}), 401],
    ["another secret", () => sign("other", "/hooks/recompile"), 401],
    ["the signature of another body", () => signed("other"), 401],
    ["a signature that is no hex", async () => ({ ...(await signed()), "x-portolan-signature": "sha256=xyz" }), 401],
    ["a stale timestamp", () => signed("", "k", nowMs - 301_000), 401],
    ["a timestamp from the future", () => signed("", "k", nowMs + 301_000), 401],
    ["a timestamp that was not signed", async () => ({ ...(await signed()), "x-portolan-timestamp": "1" }), 401],
    ["a timestamp that is no number", async () => ({ ...(await signed()), "x-portolan-timestamp": "NaN" }), 401],
    ["a signed timestamp that is no number", () => signed("", "k", Number.NaN), 401],
    ["another delivery's name", async () => ({ ...(await signed()), "idempotency-key": "k2" }), 401],
    ["a signature for another path", () => sign(secret, "/sources/main"), 401],
    ["a signature for another query", () => sign(secret, "/hooks/recompile?a"), 401],
    ["GitHub's form of the same secret", async () => ({ "x-hub-signature-256": githubSignature("") }), 401],
    ["no idempotency key", async () => ({ ...(await signed()), "idempotency-key": "" }), 401],
  ])("refuses %s without compiling", async (_what, headers, status) => {
    const { post, runs } = testApp();
    const response = await post("/hooks/recompile", await headers());
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ detail: expect.any(String) });
    expect(runs()).toBe(0);
  });

  it("refuses everybody when it has no secret", async () => {
    for (const operators of [[], [""]]) {
      const { post } = testApp(async () => done, { secrets: { ...noSecrets, operators } });
      expect((await post("/hooks/recompile", await sign("x", "/hooks/recompile"))).status).toBe(401);
    }
  });

  it("compiles for a front's secret, which fills no source, and reads and writes no object", async () => {
    const { app, post, runs } = testApp(async () => done, { secrets: { ...noSecrets, fronts: ["f"] } });
    expect((await post("/hooks/recompile", await sign("f", "/hooks/recompile"))).status).toBe(200);
    const body = JSON.stringify({ files: [{ file: "a.yaml", text: service("a") }] });
    expect((await post("/sources/main", await sign("f", "/sources/main", body, "k2"), body)).status).toBe(401);
    for (const path of ["/objects/sources/main/list", "/sources/main/statuses"])
      for (const method of ["GET", "PUT", "DELETE"]) {
        const headers = await signRequest(
          "f",
          { method, target: path, body: new Uint8Array() },
          `${method}${path}`,
          nowMs,
        );
        expect([401, 404]).toContain((await app.request(path, { method, headers })).status);
      }
    expect(runs()).toBe(1);
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

  it("lets a delivery be made again whose process died in the middle, and not while it may still be under way", async () => {
    let begun = () => {};
    const dying = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let atMs = nowMs;
    const store = memoryStore(() => atMs);
    const hangs = () => {
      begun();
      return new Promise<never>(() => {});
    };
    const { post } = testApp(hangs, { store });
    void post("/hooks/recompile", await signed());
    await dying;
    const restarted = testApp(async () => done, { store, now: () => atMs });
    const again = async () => (await restarted.post("/hooks/recompile", await signed("", "k1", atMs))).status;
    expect(await again()).toBe(503);
    atMs += 15_001;
    expect(await again()).toBe(200);
    atMs += 15_001;
    expect(await again()).toBe(409);
  });

  it.each(["get", "put"] as const)(
    "fills no source any more for a delivery that was taken over while this process stood still, at its %s",
    async (still) => {
      let atMs = nowMs;
      const store = memoryStore(() => atMs);
      const list = "sources/main/list";
      const fill = (name: string) => JSON.stringify({ files: [{ file: "a.yaml", text: service(name) }] });
      const push = async ({ post }: ReturnType<typeof testApp>, name: string, delivery: string) =>
        (await post("/sources/main", await sign(secret, "/sources/main", fill(name), delivery, atMs), fill(name)))
          .status;
      const held = Promise.withResolvers<void>();
      const reached = Promise.withResolvers<void>();
      const wait = async (at: typeof still, key: string) => {
        if (at !== still || key !== list) return;
        reached.resolve();
        await held.promise;
      };
      const slow: ObjectStore = {
        ...store,
        async get(key, condition) {
          await wait("get", key);
          return store.get(key, condition);
        },
        async put(key, bytes, condition) {
          await wait("put", key);
          return store.put(key, bytes, condition);
        },
      };
      const stopped = push(testApp(undefined, { store: slow }), "old", "k1");
      await reached.promise;
      atMs = nowMs + 15_001;
      const other = testApp(undefined, { store, now: () => atMs });
      expect(await push(other, "old", "k1")).toBe(200);
      expect(await push(other, "new", "k2")).toBe(200);
      held.resolve();
      expect(await stopped).toBe(409);
      expect((await readShard(store, "main"))?.files[0]?.text).toBe(service("new"));
      expect(await push(other, "old", "k1")).toBe(409);
    },
  );

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

describe("deliveries of several secrets", () => {
  const secrets = {
    ...noSecrets,
    operators: [secret, "new secret"],
    sources: new Map([
      ["main", ["of main"]],
      ["b", ["of b"]],
    ]),
  };
  const status = async ({ post }: ReturnType<typeof testApp>, key: string, target: string, delivery: string) => {
    const body = JSON.stringify({ files: [{ file: "a.yaml", text: service("a") }] });
    return (await post(target, await sign(key, target, body, delivery), body)).status;
  };

  it("have names of their own: nobody uses up the name of another's", async () => {
    const app = testApp(undefined, { secrets });
    for (const key of ["of b", "of main", secret])
      expect(await status(app, key, "/hooks/recompile", "deploy-4711")).toBe(200);
    for (const key of ["of b", "of main", secret])
      expect(await status(app, key, "/hooks/recompile", "deploy-4711")).toBe(409);
  });

  it("share their names where one is the old secret and one the new, so that a change of secrets replays nothing", async () => {
    const app = testApp(undefined, { secrets });
    expect(await status(app, secret, "/sources/main", "k")).toBe(200);
    expect(await status(app, "new secret", "/sources/main", "k")).toBe(409);
  });
});

describe("the audience of a request", () => {
  const ask = async (
    host: string,
    audience: string | undefined,
    named: readonly string[] = [],
    change: Readonly<Record<string, string>> = {},
    leftOut = "",
  ) => {
    const secrets = { ...noSecrets, operators: [secret] };
    const recompile = async () => done;
    const options = { store: memoryStore(), secrets, sources: ["main"], now: () => nowMs, recompile };
    const app = webhookApp({ ...options, audiences: () => named });
    const target = "/hooks/recompile";
    const headers = await signRequest(secret, { method: "POST", audience, target, body: new Uint8Array() }, "k", nowMs);
    const sent = Object.entries({ ...headers, ...change }).filter(([name]) => name !== leftOut);
    return app.fetch(new Request(`https://${host}${target}`, { method: "POST", headers: sent }));
  };

  it.each([
    ["the host that it is sent to", "a.example", "a.example", [], 200],
    ["a host with a port", "a.example:8443", "a.example:8443", [], 200],
    ["another function that knows the secret", "b.example", "a.example", [], 401],
    ["the name before a proxy that is named", "inside.example", "a.example", ["a.example"], 200],
    ["the host that it is sent to where another is named", "b.example", "b.example", ["a.example"], 401],
    ["none, as clients of 0.1 sign", "a.example", undefined, [], 200],
    ["none, as clients of 0.1 sign, where one is named", "a.example", undefined, ["a.example"], 200],
  ])("is held against the function's: %s", async (_what, host, audience, named, status) => {
    expect((await ask(host, audience, named)).status).toBe(status);
  });

  it("is part of what is signed: it can be neither changed nor left out", async () => {
    const changed = await ask("b.example", "a.example", [], { "x-portolan-audience": "b.example" });
    expect(await changed.json()).toMatchObject({ status: 401, detail: "the signature is wrong" });
    const emptied = await ask("b.example", "a.example", [], { "x-portolan-audience": "" });
    expect(emptied.status).toBe(401);
    const without = await ask("b.example", "a.example", [], undefined, "x-portolan-audience");
    expect(await without.json()).toMatchObject({ status: 401, detail: "the signature is wrong" });
    const added = await ask("b.example", undefined, [], { "x-portolan-audience": "b.example" });
    expect(added.status).toBe(401);
  });

  it("that is wrong is told with the setting that names others", async () => {
    expect(await (await ask("b.example", "a.example")).json()).toMatchObject({
      detail: expect.stringContaining("signed for a.example, and this function is b.example"),
    });
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
    expect((await post("/sources/main", await sign(secret, "/sources/main", body), body)).status).toBe(200);
    expect((await readShard(store, "main"))?.files.map(({ file, text }) => [file, text])).toEqual([
      ["a.yaml", service("a")],
      ["b.yaml", service("b")],
    ]);
  });

  it("refuses files whose aliases make them longer than a body may be, and names the document", async () => {
    const { post, store, runs } = testApp();
    const text = `# long\nkind: A\na: &x ${"x".repeat(10_000)}\nb: [${Array(60).fill("*x").join()}]\n`;
    const files = Array.from({ length: 60 }, (_, at) => ({ file: `${at}.yaml`, text }));
    const body = JSON.stringify({ files });
    const answer = await post("/sources/main", await sign(secret, "/sources/main", body), body);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      diagnostics: [{ code: "unreadable-document", severity: "error", origin: { file: "55.yaml", line: 2 } }],
    });
    expect([runs(), await readShard(store, "main")]).toEqual([0, undefined]);
  });

  it("tells the compiler whom a canary is for, who sent it and why", async () => {
    const asked: unknown[] = [];
    const { post, store } = testApp(async (publishing) => {
      asked.push(publishing);
      return done;
    });
    await createPublisher(store).publish(worldOf({ web: { clusters: { a: "1" } } }), undefined);
    const files = [{ file: "a.yaml", text: service("a") }];
    const share = { percent: 10, labels: { track: "canary" } };
    const body = JSON.stringify({ files, share, by: "ci", why: "try" });
    expect((await post("/sources/main", await sign(secret, "/sources/main", body), body)).status).toBe(200);
    expect(asked).toEqual([{ by: "ci", why: "try", share }]);
  });

  it("takes no canary from a source's own secret, and says whose secret it was", async () => {
    const asked: unknown[] = [];
    const secrets: WebhookSecrets = { ...noSecrets, operators: [secret], sources: new Map([["main", ["own"]]]) };
    const { post, store } = testApp(
      async (publishing) => {
        asked.push(publishing);
        return done;
      },
      { secrets },
    );
    await createPublisher(store).publish(worldOf({ web: { clusters: { a: "1" } } }), undefined);
    const push = async (body: object, delivery: string) => {
      const text = JSON.stringify(body);
      return (await post("/sources/main", await sign("own", "/sources/main", text, delivery), text)).status;
    };
    const files = [{ file: "a.yaml", text: service("a") }];
    expect(await push({ files, share: { percent: 100, labels: {} }, by: "the operator" }, "1")).toBe(403);
    expect(await readShard(store, "main")).toBeUndefined();
    expect(await push({ files, by: "the operator", why: "try" }, "2")).toBe(200);
    expect(asked).toEqual([{ by: "the operator, with the secret of source main", why: "try" }]);
  });

  it.each([
    ["by", { by: "b".repeat(513) }],
    ["why", { why: "w".repeat(2_049) }],
    ["why", { why: "ä".repeat(1_025) }],
    ["share.labels", { share: { percent: 1, labels: { a: "l".repeat(4_097) } } }],
    ["files[0].file", { files: [{ file: "f".repeat(1_025), text: "" }] }],
    ["files[0].file", { files: [{ file: "a.yaml", text: "", problem: "p".repeat(1_025) }] }],
  ])("refuses a text for people that is too long, and changes nothing: %s", async (what, said) => {
    const { post, store, runs } = testApp();
    const body = JSON.stringify({ files: [{ file: "a.yaml", text: service("a") }], ...said });
    const answer = await post("/sources/main", await sign(secret, "/sources/main", body), body);
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain(what);
    expect([runs(), await readShard(store, "main")]).toEqual([0, undefined]);
  });

  it("says whose secret it was, however long the name is that a source's own secret comes with", async () => {
    const asked: (Publishing | undefined)[] = [];
    const secrets = { ...noSecrets, operators: [secret], sources: new Map([["main", ["own"]]]) };
    const recompile = async (publishing?: Publishing) => {
      asked.push(publishing);
      return done;
    };
    const { post } = testApp(recompile, { secrets });
    const body = JSON.stringify({ files: [{ file: "a.yaml", text: service("a") }], by: "b".repeat(512) });
    expect((await post("/sources/main", await sign("own", "/sources/main", body), body)).status).toBe(200);
    expect(joinAttributions(asked.map((one) => one ?? {})).by).toContain("with the secret of source main");
  });

  it("refuses a canary where nothing was published before it fills the source", async () => {
    const { post, store, runs } = testApp();
    const files = [{ file: "a.yaml", text: service("a") }];
    const body = JSON.stringify({ files, share: { percent: 10, labels: {} } });
    const answer = await post("/sources/main", await sign(secret, "/sources/main", body), body);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      status: 422,
      detail: "nothing was published yet that a canary could differ from; push without --canary first",
    });
    expect(runs()).toBe(0);
    expect(await readShard(store, "main")).toBeUndefined();
  });

  it("empties a source only when that is said", async () => {
    const { post, store } = testApp();
    const fill = async (body: object, key: string) => {
      const text = JSON.stringify(body);
      return (await post("/sources/main", await sign(secret, "/sources/main", text, key), text)).status;
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
    ["another source", "/sources/other", '{"files":[]}', 404, "add it to the sources of the compile function (SOURCES"],
    ["broken JSON", "/sources/main", "{", 422],
    ["too many files", "/sources/main", JSON.stringify({ files: Array(20_001).fill({ file: "a", text: "" }) }), 413],
    ["a file without text", "/sources/main", '{"files":[{"file":"a"}]}', 422],
    ["a share above all", "/sources/main", '{"files":[],"share":{"percent":101}}', 422],
    ["a share by other labels than texts", "/sources/main", '{"files":[],"share":{"percent":1,"labels":{"a":1}}}', 422],
  ])("refuses %s and writes nothing", async (_what, path, body, status, remedy = "") => {
    const { post, store } = testApp();
    const response = await post(path, await sign(secret, path, body), body);
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(remedy)]);
    expect(await readShard(store, "main")).toBeUndefined();
  });

  it("stores a Secret without its values, and whatever stands beside it", async () => {
    const { post, store } = testApp();
    const text = `apiVersion: v1\nkind: Secret\nmetadata: {name: shop}\nstringData: {a: s3cret}\n---\n${service("a")}`;
    const body = JSON.stringify({ files: [{ file: "a.yaml", text }] });
    const response = await post("/sources/main", await sign(secret, "/sources/main", body), body);
    expect(response.status).toBe(200);
    const [file] = (await readShard(store, "main"))?.files ?? [];
    expect(file?.text).toContain('"kind":"Secret","metadata":{"name":"shop"');
    expect(file?.text).toContain(service("a"));
    expect(file?.text).not.toContain("s3cret");
  });

  it("judges a request before it reads the body", async () => {
    const { app } = testApp();
    let read = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          read += 1;
          controller.enqueue(new Uint8Array(1024));
        },
      },
      { highWaterMark: 0 },
    );
    const init = { method: "POST", body, duplex: "half" as const, headers: { "x-portolan-signature": "sha256=00" } };
    expect((await app.request(new Request("http://compile/sources/main", init))).status).toBe(401);
    expect(read).toBe(0);
  });

  it("takes no other body than the one that was signed", async () => {
    const { post, store } = testApp();
    const headers = await sign(secret, "/sources/main", '{"files":[]}');
    const response = await post("/sources/main", headers, '{"files":[{"file":"a.yaml","text":""}]}');
    expect([response.status, await response.json()]).toEqual([
      401,
      expect.objectContaining({ detail: "the body is not the one that was signed" }),
    ]);
    expect(await readShard(store, "main")).toBeUndefined();
  });

  it("brings no old configuration back: a captured push is good for once, here and under every other name", async () => {
    const { post, store } = testApp();
    const body = (text: string) => JSON.stringify({ files: [{ file: "a.yaml", text }] });
    const captured = await sign(secret, "/sources/main", body(service("old")), "first");
    expect((await post("/sources/main", captured, body(service("old")))).status).toBe(200);
    expect(
      (
        await post(
          "/sources/main",
          await sign(secret, "/sources/main", body(service("new")), "second"),
          body(service("new")),
        )
      ).status,
    ).toBe(200);
    for (const headers of [captured, { ...captured, "idempotency-key": "third" }]) {
      expect([401, 409]).toContain((await post("/sources/main", headers, body(service("old")))).status);
    }
    expect((await post("/sources/other", captured, body(service("old")))).status).toBe(401);
    expect((await readShard(store, "main"))?.files).toEqual([{ file: "a.yaml", text: service("new") }]);
  });
});

describe("secrets of sources", () => {
  const secrets: WebhookSecrets = {
    ...noSecrets,
    operators: ["operators"],
    sources: new Map([
      ["main", ["new main", "old main"]],
      ["team", ["team"]],
    ]),
  };
  const body = JSON.stringify({ files: [{ file: "a.yaml", text: service("a") }] });
  const status = async (key: string, path: string) => {
    const { post } = testApp(async () => done, { secrets });
    return (await post(path, await sign(key, path, body), body)).status;
  };

  it.each(["operators", "new main", "old main"])("takes %s for main", async (key) => {
    expect(await status(key, "/sources/main")).toBe(200);
    expect(await status(key, "/hooks/recompile")).toBe(200);
  });

  it("takes another source's secret for that source alone", async () => {
    expect(await status("team", "/sources/main")).toBe(401);
    expect(await status("team", "/hooks/recompile")).toBe(200);
  });
});

describe("GET /sources/<name>/statuses", () => {
  const route = (name: string, uid: string): OriginObject => ({
    key: `HTTPRoute.gateway.networking.k8s.io/shop/${name}`,
    version: "1",
    object: {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: { name, namespace: "shop", uid, generation: 4 },
      spec: { parentRefs: [{ group: "", kind: "Service", name: "cart" }] },
    },
  });

  /** A store with what two collectors brought, compiled. */
  async function compiledStore(): Promise<ObjectStore> {
    const store = memoryStore();
    for (const [source, name] of [
      ["main", "a"],
      ["other", "b"],
    ] as const) {
      const origin = new FakeOrigin();
      const collecting = createCollector({ store, source, origin }).once();
      await origin.following;
      origin.whole("all", [route(name, `uid-${name}`)]);
      await collecting;
    }
    await createRecompiler({ store })();
    return store;
  }
  const ask = async (store: ObjectStore, target: string, key = secret) => {
    const { app } = testApp(undefined, { store });
    const headers = await signRequest(key, { method: "GET", target, body: new Uint8Array() }, "k", nowMs);
    return app.request(target, { headers });
  };

  it("tells a source's collector what is said of its objects, and of no others, once for each root", async () => {
    const store = await compiledStore();
    const told = readNewestStatuses(await (await ask(store, "/sources/main/statuses")).json());
    expect(told?.statuses).toMatchObject([
      {
        object: "HTTPRoute.gateway.networking.k8s.io/shop/a",
        generation: 4,
        uid: "uid-a",
        controllers: ["istio.io/gateway-controller"],
        status: { parents: [{ conditions: [{ type: "Accepted", status: "False" }, {}] }] },
      },
    ]);
    const again = await ask(store, `/sources/main/statuses?known=${told?.root}`);
    expect(readNewestStatuses(await again.json())).toEqual({ root: told?.root, statuses: undefined });
  });

  it("tells nobody without the source's secret, and of no source that is not taken", async () => {
    const store = await compiledStore();
    expect((await ask(store, "/sources/main/statuses", "wrong")).status).toBe(401);
    expect((await ask(store, "/sources/other/statuses")).status).toBe(404);
    expect(await (await ask(memoryStore(), "/sources/main/statuses")).json()).toBe(null);
  });
});
