import { describe, expect, it } from "vitest";
import { limits } from "../../lib/limits/limits.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { testFront } from "./fixtures.ts";

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
    expect((await request(path)).status).toBe(200);
  });
});
