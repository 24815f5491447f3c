import { describe, expect, it } from "vitest";
import { blobKey } from "../../lib/base/blob.ts";
import { authenticateBy } from "../../lib/front/auth/authentication.ts";
import type { FrontOptions } from "../../lib/front/front.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "./fixtures.ts";

const world = (content: string) => worldOf({ web: { clusters: { a: content } } });

/** A front over a store whose reads are counted, on a clock that the test moves. */
function scene(options: Partial<FrontOptions> = {}) {
  const memory = memoryStore();
  const reads: string[] = [];
  const lost = new Set<string>();
  const store: ObjectStore = {
    ...memory,
    async get(key, condition) {
      reads.push(key);
      return lost.has(key) ? { kind: "absent" } : memory.get(key, condition);
    },
  };
  let nowMs = Date.now();
  const errors: string[] = [];
  const test = testFront({ store, now: () => nowMs, onError: (cause) => errors.push(String(cause)), ...options });
  const statusOf = async (path: string) => (await test.request(path)).status;
  return {
    ...test,
    reads,
    errors,
    /** Loses the root in force. */
    async loseRoot() {
      lost.add(blobKey((await readHead(memory))?.head.steps.at(-1)?.root ?? ""));
    },
    restore: () => lost.clear(),
    laterMs(ms: number) {
      nowMs += ms;
    },
    statusOf,
    poll: async () => (await test.poll("clusters", pollBody("clusters", nodeOf("web")))).status,
    reason: async () => (await test.request("/readyz")).json(),
  };
}

describe("/livez", () => {
  it("is 200 while the process answers, whatever the store is like, and asks nothing of it", async () => {
    const { statusOf, reads } = scene();
    expect(await statusOf("/livez")).toBe(200);
    expect(reads).toEqual([]);
  });
});

describe("/readyz", () => {
  it("is 503 before the first publish, and 200 after it", async () => {
    const { statusOf, reason, publish, request } = scene();
    expect(await reason()).toEqual({ status: 503, detail: "nothing was published yet" });
    expect((await request("/readyz")).headers.get("content-type")).toBe("application/problem+json");
    await publish(world("1"));
    expect([await statusOf("/readyz"), await statusOf("/healthz")]).toEqual([200, 200]);
  });

  it("is 503 with /healthz while the root in force is lost and polls get 503, and 200 once it is there", async () => {
    const { statusOf, reason, publish, poll, loseRoot, restore, laterMs } = scene();
    await publish(world("1"));
    await loseRoot();
    expect([await poll(), await statusOf("/readyz"), await statusOf("/healthz"), await statusOf("/livez")]).toEqual([
      503, 503, 503, 200,
    ]);
    expect(await reason()).toEqual({
      status: 503,
      detail: "the snapshot in force cannot be read: the store cannot be read",
    });
    restore();
    laterMs(1_000);
    expect([await poll(), await statusOf("/readyz"), await statusOf("/healthz")]).toEqual([200, 200, 200]);
  });

  it("is 503 when HEAD moves to a root that cannot be read, though an older one is at hand", async () => {
    const { statusOf, request, publish, poll, loseRoot } = scene();
    await publish(world("1"));
    expect([await poll(), await statusOf("/readyz")]).toEqual([200, 200]);
    await publish(world("2"));
    await loseRoot();
    expect(await statusOf("/readyz")).toBe(503);
    // A node that has nothing yet gets the older one, and /healthz says so.
    expect(await poll()).toBe(200);
    const health = await request("/healthz");
    expect([health.status, await health.json()]).toMatchObject([
      200,
      { generation: 2, warnings: [expect.stringContaining("; the snapshot before it is served")] },
    ]);
  });

  it("is 503 while HEAD is signed by nobody who is trusted", async () => {
    const trusted = [publicPart(await makeSigningKey("roots"))];
    const { reason, publish } = scene({ trusted });
    await publish(world("1"));
    expect(await reason()).toEqual({ status: 503, detail: "HEAD cannot be read, or is not trusted; see the log" });
  });

  it("is 503 once the front is closed", async () => {
    const { front, reason, publish } = scene();
    await publish(world("1"));
    front.close();
    expect(await reason()).toEqual({ status: 503, detail: "the server is shutting down" });
  });

  it("is open to everybody, and names nothing of the mesh", async () => {
    const { request, publish, loseRoot } = scene({ authentication: authenticateBy("nobody", []) });
    await publish(world("1"));
    expect((await request("/v3/head")).status).toBe(401);
    for (const path of ["/livez", "/readyz"]) {
      const response = await request(path);
      expect([response.status, await response.text()]).toEqual([200, "ok\n"]);
    }
    await loseRoot();
    expect(await (await request("/readyz")).text()).not.toMatch(/[0-9a-f]{12}/);
  });

  it("reads a lost root once a second, and logs it once, however many ask", async () => {
    const { statusOf, publish, loseRoot, reads, errors, laterMs } = scene({ headTtlMs: 1_000 });
    await publish(world("1"));
    await loseRoot();
    reads.length = 0;
    const asked = Array.from({ length: 50 }, () => statusOf("/readyz"));
    expect(new Set(await Promise.all(asked))).toEqual(new Set([503]));
    for (let more = 0; more < 10; more += 1) await statusOf("/readyz");
    expect(reads.filter((key) => key.startsWith("blobs/"))).toHaveLength(1);
    expect(reads.filter((key) => key === "HEAD")).toHaveLength(1);
    laterMs(1_001);
    await statusOf("/readyz");
    expect(reads.filter((key) => key.startsWith("blobs/"))).toHaveLength(2);
    expect(errors).toHaveLength(1);
  });
});
