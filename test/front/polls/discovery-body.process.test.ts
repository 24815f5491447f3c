import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { discoveryBody } from "../../../lib/front/polls/discovery-body.ts";
import { wholeOf } from "../../../lib/front/requests/answer.ts";
import { rootAt } from "../../../lib/snapshot/head/head.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { selectResources } from "../../../lib/streams/select-resources.ts";
import { worldOf } from "../../snapshot/worlds.ts";

describe("the body of an answer", () => {
  it("reads some of its segments at a time and no more, and has them in order", async () => {
    const store = memoryStore();
    const names = Array.from({ length: 800 }, (_, at) => `cluster-${String(at).padStart(4, "0")}`);
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
    const content = "x".repeat(1_000);
    const world = worldOf({ web: { clusters: Object.fromEntries(names.map((name) => [name, content])) } });
    await publisher.publish(world, await publisher.head());
    let underWay = 0;
    let most = 0;
    const reader = createSnapshotReader({
      async get(key, condition) {
        underWay += 1;
        most = Math.max(most, underWay);
        await sleep(2);
        underWay -= 1;
        return store.get(key, condition);
      },
    });
    const loaded = await reader.root(rootAt((await publisher.head())?.head ?? { steps: [] }, Date.now()));
    const question = { classId: "web", shape: "poll", type: "clusters", names: [] } as const;
    const selection = await selectResources(reader, loaded, question);
    const segments = selection?.parts.length ?? 0;
    expect(segments).toBeGreaterThan(32);
    most = 0;
    const body = selection === undefined ? undefined : await discoveryBody(reader, "clusters", selection);
    const text = body === undefined ? "" : new TextDecoder().decode(await wholeOf(body));
    const { resources }: { readonly resources: readonly { readonly name: string }[] } = JSON.parse(text);
    expect(resources.map(({ name }) => name)).toEqual(names);
    expect(most).toBe(24);
  });
});
