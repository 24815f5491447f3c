import { Hono } from "hono/tiny";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { webhookApp } from "../../lib/compile/webhook/app.ts";
import { createOnce } from "../../lib/compile/webhook/delivery.ts";
import { createGuard } from "../../lib/compile/webhook/guard.ts";
import { objectSigner, objectsPath } from "../../lib/compile/webhook/object-signature.ts";
import { objectsApp } from "../../lib/compile/webhook/objects.ts";
import { createQuota } from "../../lib/compile/webhook/quota.ts";
import { noSecrets } from "../../lib/compile/webhook/webhook-secrets.ts";
import { type RunningServer, serveHttp } from "../../lib/front/node-server.ts";
import { createBodyPool } from "../../lib/limits/body-pool.ts";
import { limits } from "../../lib/limits/limits.ts";
import { httpStore } from "../../lib/storage/http.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { storeContract } from "./contract.ts";

const secret = "s3cret";

function serve(objects: ObjectStore = memoryStore()): Promise<RunningServer> {
  const recompile = async () => ({ kind: "published", version: "v", generation: 1, diagnostics: [] }) as const;
  const secrets = { ...noSecrets, operators: [secret] };
  return serveHttp(webhookApp({ store: objects, recompile, secrets, sources: ["main"] }), 0);
}

/** The way of objects over HTTP, for keys of any shape. */
function serveAnyKey(store: ObjectStore = memoryStore()): Promise<RunningServer> {
  const secrets = { ...noSecrets, operators: [secret] };
  const now = Date.now;
  const once = createOnce(store, now);
  const guard = createGuard({ secrets, audiences: () => [], pool: createBodyPool(limits), once, now });
  const quota = createQuota(store, now);
  const objects = objectsApp({ store, secrets, sources: ["main"], guard, quota, isPart: () => true });
  const app = new Hono();
  app.route(objectsPath, objects);
  return serveHttp(app, 0);
}

const open = (url: string, key = secret) => httpStore({ url: `${url}/objects`, authorize: objectSigner(key) });

/** Only sources are reachable over HTTP: the contract's keys lie in one. */
function within(prefix: string, store: ObjectStore): ObjectStore {
  return {
    get: (key, condition) => store.get(prefix + key, condition),
    put: (key, bytes, condition) => store.put(prefix + key, bytes, condition),
    delete: (key) => store.delete(prefix + key),
    folders: (start) => store.folders(prefix + start),
    async *list(start, after) {
      for await (const object of store.list(prefix + start, after === undefined ? undefined : prefix + after)) {
        yield { ...object, key: object.key.slice(prefix.length) };
      }
    },
  };
}

storeContract(
  "HTTP",
  async () => {
    const server = await serveAnyKey();
    return { store: within("sources/main/", open(server.url)), close: () => server.close() };
  },
  new Uint8Array([255, 13, 10, 128]),
);

describe("a store over HTTP", () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await serve();
  });
  afterAll(() => server.close());

  it("keeps percent signs of keys", async () => {
    const anyKey = await serveAnyKey();
    const store = open(anyKey.url);
    await store.put("sources/main/a%2Fb", new Uint8Array([1]));
    expect((await store.get("sources/main/a%2Fb")).kind).toBe("found");
    expect((await store.get("sources/main/a")).kind).toBe("absent");
    await anyKey.close();
  });

  it("says why it is refused", async () => {
    await expect(open(server.url, "other").get("sources/main/a")).rejects.toThrow(
      `${server.url}/objects answers 401: the signature is wrong`,
    );
  });

  it("does not take an address without objects for an empty store", async () => {
    const store = httpStore({ url: `${server.url}/elsewhere`, authorize: async () => ({}) });
    await expect(store.get("sources/main/a")).rejects.toThrow("answers 404");
  });

  it("says that nobody listens", async () => {
    await expect(open("http://127.0.0.1:1").get("sources/main/a")).rejects.toThrow("cannot be reached: ");
  });

  it("passes on what is wrong with the store behind", async () => {
    const behind = await serve({
      ...memoryStore(),
      get: async () => {
        throw new Error("disk");
      },
    });
    await expect(open(behind.url).get("sources/main/a")).rejects.toThrow("answers 500");
    await behind.close();
  });
});
