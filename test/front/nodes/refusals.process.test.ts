import { describe, expect, it } from "vitest";
import { createRefusalWatch, type Refusal } from "../../../lib/front/nodes/refusals.ts";
import { type Limits, limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

function watch(some: Partial<Limits> = {}) {
  let nowMs = 0;
  const told: Refusal[] = [];
  const refusals = createRefusalWatch(
    () => nowMs,
    (refusal) => told.push(refusal),
    { ...limits, ...some },
  );
  const poll = (nodeId: string) => ({ nodeId, type: "clusters", name: "" }) as const;
  return {
    told,
    pass: (ms: number) => {
      nowMs += ms;
    },
    serve: (nodeId: string, version = "2") =>
      refusals.served(poll(nodeId), { kept: "1", version, classId: "c", root: "r" }),
    ask: (nodeId: string, version = "1") => refusals.asked(poll(nodeId), version),
    active: () => refusals.active().map(({ nodeId }) => nodeId),
  };
}

describe("the watch for refusals", () => {
  it("forgets a node that asks no more, and not one that goes on asking", () => {
    const { serve, ask, pass, active } = watch({ refusalMs: 1_000 });
    for (const node of ["gone", "there"]) {
      serve(node);
      ask(node);
      ask(node);
    }
    expect(active()).toEqual(["there", "gone"]);
    pass(900);
    ask("there");
    pass(200);
    expect(active()).toEqual(["there"]);
  });

  it("takes a bounded amount of memory, whatever is asked under whatever names", () => {
    const { serve, ask, active } = watch({ refusalBytes: 50_000 });
    for (let i = 0; i < 10_000; i += 1) {
      const node = `${i}${"x".repeat(i % 1_000)}`;
      serve(node);
      ask(node);
      ask(node);
    }
    expect(active().length).toBeGreaterThan(5);
    expect(active().join("").length).toBeLessThan(50_000);
    expect(active()[0]).toMatch(/^9999/);
  });

  it("counts a node that accepts or changes its mind as one, however often", () => {
    const { serve, ask, active } = watch({ refusalBytes: 3_000 });
    serve("first");
    ask("first");
    ask("first");
    for (let i = 0; i < 1_000; i += 1) {
      serve("other", String(i));
      ask("other", "accepted");
    }
    expect(active()).toEqual(["first"]);
  });
});

describe("GET /refusals", () => {
  const world = (content: string) => worldOf({ web: { clusters: { a: "same", b: content } } });

  async function refusing() {
    const memory = memoryStore();
    const gone = new Set<string>();
    const get: typeof memory.get = async (key, condition) =>
      [...gone].some((hash) => key.endsWith(hash)) ? { kind: "absent" } : memory.get(key, condition);
    const test = testFront({ store: { ...memory, get } });
    await test.publish(world("1"));
    const ask = async (version?: string): Promise<string> => {
      const response = await test.poll(
        "clusters",
        pollBody("clusters", nodeOf("web"), { ...(version && { version }) }),
      );
      if (response.status === 304) return version ?? "";
      const answer: { readonly version_info: string } = JSON.parse(await response.text());
      return answer.version_info;
    };
    const kept = await ask();
    await test.publish(world("2"));
    for (let i = 0; i < 3; i += 1) await ask(kept);
    const read = async () => {
      const response = await test.request("/refusals");
      const body: { readonly refusals: readonly { readonly root: string; readonly suspects?: readonly unknown[] }[] } =
        JSON.parse(await response.text());
      return { status: response.status, refusals: body.refusals };
    };
    return { ...test, gone, read };
  }

  it("names what differs from what the node keeps", async () => {
    const { read } = await refusing();
    expect(await read()).toMatchObject({ status: 200, refusals: [{ suspects: [{ name: "b" }] }] });
  });

  it("goes on telling of a refusal when the root that was refused is collected", async () => {
    const { read, store, gone, publish } = await refusing();
    const { refusals } = await read();
    await publish(world("3"));
    for (const { root } of refusals) gone.add(root);
    // Another process: it has nothing of the old root in memory.
    const fresh = testFront({ store });
    const node = nodeOf("web");
    fresh.front.refusals.served(
      { nodeId: node.id, type: "clusters", name: "" },
      { kept: "1", version: "2", classId: "web", root: refusals[0]?.root ?? "" },
    );
    for (let i = 0; i < 2; i += 1) fresh.front.refusals.asked({ nodeId: node.id, type: "clusters", name: "" }, "1");
    const response = await fresh.request("/refusals");
    expect(response.status).toBe(200);
    const body: { readonly refusals: readonly object[] } = JSON.parse(await response.text());
    expect(body.refusals).toHaveLength(1);
    expect(body.refusals[0]).not.toHaveProperty("suspects");
  });
});
