/** A front in an isolate that starts cold, in a place where another one has answered already. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { R2Bucket } from "@cloudflare/workers-types";
import { expect, it } from "vitest";
import { createTestHarness } from "wrangler";
import { createPacker } from "../../lib/snapshot/packs/write-packs.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { r2Store } from "../../lib/storage/r2.ts";
import { nodeOf, pollBody } from "../front/fixtures.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { countsOf, writeCountingFront } from "./counting-front.ts";

const clusters = Object.fromEntries(
  Array.from({ length: 2_000 }, (_, i) => [`cluster-${i}`, `${i} `.padEnd(1_000, "x")] as const),
);

it("reads HEAD and the index of packs from the bucket, and blobs and packs from the cache", async () => {
  const directory = await mkdtemp(join(tmpdir(), "portolan-worker-cache-"));
  const names = ["front-a", "front-b"];
  const vars = { AUTHENTICATION: "off" };
  const workers = await Promise.all(
    names.map(async (name) => ({ configPath: await writeCountingFront(directory, name), vars })),
  );
  const harness = createTestHarness({ workers });
  try {
    await harness.listen();
    const fronts = names.map((name) => harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>(name));
    const [{ SNAPSHOTS } = { SNAPSHOTS: undefined }] = await Promise.all(fronts.map((front) => front.getEnv()));
    if (SNAPSHOTS === undefined) throw new Error("there are two Workers");
    const store = r2Store(SNAPSHOTS);
    const publisher = createPublisher(store);
    const published = await publisher.publish(worldOf({ web: { clusters } }), await publisher.head());
    if (published.kind === "lost") throw new Error("there is no other publisher");
    await createPacker(store)({ version: published.root, generation: published.head.generation });
    const answers: string[] = [];
    const reads: number[] = [];
    for (const front of fronts) {
      const answer = await front.fetch("http://front/v3/discovery:clusters", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: pollBody("clusters", nodeOf("web")),
      });
      answers.push(await answer.text());
      const counts = await countsOf((path) => front.fetch(`http://front${path}`));
      expect(counts.requests).toBe(1);
      reads.push(counts.reads);
    }
    console.log(`workerd: reads of R2 for a first poll: ${reads.join(", then ")} in another isolate`);
    const [first, second] = answers;
    expect(first).toContain("cluster-1999");
    expect(second).toBe(first);
    const [before = 0, after = before] = reads;
    // All but the first 2 where the cache was written in time.
    expect(after).toBeLessThan(before / 2);
  } finally {
    await harness.close();
    await rm(directory, { recursive: true, force: true });
  }
}, 120_000);
