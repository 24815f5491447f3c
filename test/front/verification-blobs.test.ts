import { describe, expect, it } from "vitest";
import { authenticateBy, identified } from "../../lib/front/auth/authentication.ts";
import type { Caller } from "../../lib/front/auth/caller.ts";
import { limits } from "../../lib/limits/limits.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { testFront } from "./fixtures.ts";

const web = { kind: "node", subject: "web", namespace: "default", serviceAccount: "acc" } as const;

describe("GET /v3/blobs/:hash", () => {
  it("keeps what its readers have not taken yet within the room of answers", async () => {
    const { request, publish } = testFront({ limits: { ...limits, answersBytes: 10 } });
    await publish(worldOf({ web: { clusters: { a: "1" } } }));
    const head: { readonly steps: readonly { readonly root: string }[] } = JSON.parse(
      await (await request("/v3/head")).text(),
    );
    const path = `/v3/blobs/${head.steps[0]?.root}`;
    const slow = await request(path);
    expect([slow.status, (await request(path)).status]).toEqual([200, 503]);
    expect(JSON.parse(await slow.text())).toHaveProperty("classifier");
    const next = await request(path);
    expect([next.status, next.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(next.headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
    await next.body?.cancel();
    expect((await request(path, { method: "HEAD" })).status).toBe(200);
    expect((await request(path)).status).toBe(200);
  });

  it.each<[string, Caller, readonly string[]]>([
    ["the piece with its own name to a pod", { ...web, pod: "web-0" }, ["web-0"]],
    ["those of its account to a service account", web, ["account"]],
    [
      "all to who has proven a namespace",
      { kind: "node", subject: "n", namespace: "default" },
      ["web-0", "account", "other"],
    ],
    ["all to an operator", { kind: "operator", subject: "o" }, ["web-0", "account", "other"]],
  ])("gives of the node index %s", async (_what, caller, readable) => {
    const authentication = authenticateBy("test", [async () => identified(caller)]);
    const { request, publish, front } = testFront({ authentication });
    const names = Array.from({ length: 3_000 }, (_, i) => `node-${i}.default`);
    const nodes = [{ keys: ["web-0.default", "acc/web-0.default", "zzz/other-0.default", ...names], classId: "web" }];
    await publish({ ...worldOf({ web: { clusters: { a: "1" } } }), nodes });
    const head = await front.heads.current();
    const { root } = await front.reader.root(head?.steps[0]?.root ?? "");
    expect(root.nodes.length).toBeGreaterThan(5);
    expect((await request(`/v3/blobs/${root.nodeList}`)).status).toBe(200);
    const read = await Promise.all(
      root.nodes.map(async ({ hash }) => {
        const response = await request(`/v3/blobs/${hash}`);
        return response.status === 200 ? await response.text() : "";
      }),
    );
    const found = { "web-0": "web-0.default", account: "acc/web-0.default", other: "zzz/other-0.default" };
    const isRead = Object.entries(found).filter(([, key]) => read.some((text) => text.includes(`"${key}"`)));
    expect(isRead.map(([name]) => name)).toEqual(expect.arrayContaining([...readable]));
    if (caller.kind === "node" && caller.serviceAccount !== undefined)
      expect(read.filter((text) => text !== "").length).toBeLessThan(3);
  });
});
