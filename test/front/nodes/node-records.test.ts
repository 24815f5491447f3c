import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import { type RecordedNodes, recordedNodes } from "../../../lib/front/nodes/node-records.ts";
import type { NodeState } from "../../../lib/front/nodes/node-state.ts";
import { createNodeVersions } from "../../../lib/front/nodes/node-versions.ts";
import type { NodeReport } from "../../../lib/front/nodes/node-watch.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A store that counts what is written below `status/`. */
function counting() {
  const memory = memoryStore();
  const written: string[] = [];
  const store: ObjectStore = {
    ...memory,
    put: async (key, ...rest) => {
      if (key.startsWith("status/") && !key.endsWith("/alive")) written.push(key);
      return memory.put(key, ...rest);
    },
  };
  return { store, written };
}

const clock = { ms: 0 };
beforeEach(() => {
  clock.ms = Date.parse("2026-01-01T00:00:00Z");
});
const now = () => clock.ms;

function nodesOf(
  store: ObjectStore,
  front: string | undefined,
  more: Partial<typeof limits> = {},
  patience: () => AbortSignal = () => new AbortController().signal,
): RecordedNodes {
  const options = {
    front,
    now,
    everyMs: 3_600_000,
    limits: { ...limits, ...more },
    onError: () => {},
    patience,
  };
  const nodes = recordedNodes(store, options);
  closing.push(nodes.close);
  return nodes;
}

const everything = { part: "", limit: 1_000 };
const web = { nodeId: "web", type: "clusters", name: "" } as const;

describe("what nodes have", () => {
  it("is forgotten by what it takes, versions of any length among it", () => {
    const versions = createNodeVersions(now, () => {}, { statusBytes: 100_000, refusalMs: 1_000_000 });
    for (let i = 0; i < 200; i += 1) {
      const who = { ...web, nodeId: `web-${i}` };
      versions.has(who, "1", "poll");
      versions.has(who, "x".repeat(1_000), "poll");
    }
    const active = versions.active();
    expect(active.length).toBeLessThan(50);
    expect(active.at(-1)?.node).toBe("web-199");
    for (let i = 0; i < 200; i += 1) versions.has({ ...web, nodeId: "web-199" }, `${i}`, "poll");
    expect(versions.active()).toHaveLength(active.length);
  });

  it.each(["-1", "0.5", "none"])("is nothing at a limit of %s", async (limit) => {
    const { request } = testFront({ nodes: nodesOf(memoryStore(), undefined), now });
    expect(await (await request(`/status/nodes?limit=${limit}`)).json()).toEqual({ nodes: [], more: 0 });
  });

  it("is what they say in their polls, since they said it first, until they say another", async () => {
    const nodes = nodesOf(memoryStore(), undefined);
    const { poll, publish, request } = testFront({ nodes, now });
    const world = (content: string) => worldOf({ web: { clusters: { a: content }, routes: { "80": "1" } } });
    await publish(world("1"));
    const ask = async (type: "clusters" | "routes", version?: string) => {
      const asked = { ...(type === "routes" ? { names: ["80"] } : {}), ...(version === undefined ? {} : { version }) };
      const response = await poll(type, pollBody(type, nodeOf("web"), asked));
      return response.status === 200 ? String(JSON.parse(await response.text()).version_info) : (version ?? "");
    };
    const report = async (query = ""): Promise<{ readonly nodes: readonly NodeState[]; readonly more: number }> =>
      JSON.parse(await (await request(`/status/nodes${query}`)).text());
    const clusters = await ask("clusters");
    expect((await report()).nodes).toEqual([]);
    await ask("clusters", clusters);
    clock.ms += 1_000;
    const routes = await ask("routes");
    await ask("routes", routes);
    await ask("clusters", clusters);
    const first = await report();
    const synced = (version: string) => ({ served: version, accepted: version, transport: "poll", state: "synced" });
    const node = nodeOf("web").id;
    const since = ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z"];
    expect(first).toEqual({
      more: 0,
      nodes: [
        {
          node,
          name: "web.default",
          class: "web",
          state: "synced",
          presence: "connected",
          lastSeen: since[1],
          resources: [
            { type: "clusters", ...synced(clusters), since: since[0] },
            { type: "routes", name: "80", ...synced(routes), since: since[1] },
          ],
          notSent: [],
        },
      ],
    });
    expect((await report("?node=web.default")).nodes).toHaveLength(1);
    expect((await report("?node=other")).nodes).toHaveLength(0);
    expect(await report("?limit=0")).toEqual({ nodes: [], more: 1 });
    await publish(world("2"));
    for (let times = 0; times < 3; times += 1) await ask("clusters", clusters);
    expect((await report()).nodes[0]?.resources[0]).toMatchObject({
      accepted: clusters,
      state: "refused",
      refused: { version: expect.stringMatching(/^[0-9a-f]{32}$/), parts: [{ resource: "a" }] },
    });
  });

  it("is not kept of whoever is refused, and nowhere where nobody keeps it", async () => {
    const nodes = nodesOf(memoryStore(), undefined);
    const { poll, publish, request } = testFront({ nodes, now });
    await publish(worldOf({ web: { clusters: { a: "1" } } }));
    await poll("clusters", pollBody("clusters", nodeOf("nobody"), { version: "1" }));
    expect(JSON.parse(await (await request("/status/nodes")).text())).toEqual({ nodes: [], more: 0 });
    expect((await testFront().request("/status/nodes")).status).toBe(404);
  });

  it("is one list over several fronts, the latest word of each", async () => {
    const { store } = counting();
    const [a, b] = [nodesOf(store, "a"), nodesOf(store, "b:8080")];
    a.has(web, "1", "poll");
    a.has({ ...web, nodeId: "only-a" }, "1", "delta");
    clock.ms += 5;
    b.has(web, "2", "stream");
    await a.write();
    await b.write();
    const both = await a.report(everything);
    expect(both.nodes.map(({ node, resources }) => [node, resources.map(({ version }) => version)])).toEqual([
      ["only-a", ["1"]],
      ["web", ["2"]],
    ]);
    // Of nodes of others their fronts say no more than that they are heard.
    const withoutHeard = ({ nodes }: NodeReport) =>
      nodes.map(({ seen: _seen, isOpen: _isOpen, pauseMs: _pauseMs, ...rest }) => rest);
    expect(withoutHeard(await b.report(everything))).toEqual(withoutHeard(both));
  });

  it("is written when something changes, and not otherwise", async () => {
    const { store, written } = counting();
    const nodes = nodesOf(store, "a");
    for (let at = 0; at < 200; at += 1) nodes.has({ ...web, nodeId: `n${at}` }, "1", "poll");
    await nodes.write();
    const parts = written.length;
    expect(parts).toBeLessThanOrEqual(16);
    for (let at = 0; at < 200; at += 1) nodes.has({ ...web, nodeId: `n${at}` }, "1", "poll");
    await nodes.write();
    expect(written).toHaveLength(parts);
    nodes.has({ ...web, nodeId: "n7" }, "2", "poll");
    await nodes.write();
    expect(written).toHaveLength(parts + 1);
  });

  it("is forgotten of whoever asks no more, in the records too; a front that has ended is forgotten after a day", async () => {
    const { store } = counting();
    const [a, b] = [nodesOf(store, "a"), nodesOf(store, "b")];
    a.has(web, "1", "poll");
    await a.write();
    expect((await b.report(everything)).nodes).toHaveLength(1);
    clock.ms += limits.refusalMs + 1;
    expect((await a.report(everything)).nodes).toHaveLength(0);
    await a.write();
    expect((await b.report(everything)).nodes).toHaveLength(0);
    a.has(web, "1", "poll");
    await a.write();
    clock.ms += 25 * 3_600_000;
    expect((await b.report(everything)).nodes).toHaveLength(0);
  });

  it("has bounds: bytes, and resources of one node", async () => {
    const nodes = nodesOf(memoryStore(), undefined, { statusBytes: 50_000 });
    for (let at = 0; at < 1_000; at += 1) nodes.has({ ...web, type: "routes", name: `r${at}` }, "1", "poll");
    expect((await nodes.report(everything)).nodes[0]?.resources).toHaveLength(100);
    for (let at = 0; at < 1_000; at += 1) nodes.has({ ...web, nodeId: `n${at}` }, "1", "poll");
    const { nodes: kept } = await nodes.report(everything);
    expect(kept.length).toBeLessThan(100);
    expect(kept.map(({ node }) => node)).toContain("n999");
  });

  it("is this front's own while the store cannot be read, and what others wrote that is no record is passed over", async () => {
    const { store } = counting();
    await store.put("status/b/1", new TextEncoder().encode("{"));
    const nodes = nodesOf(store, "a");
    nodes.has(web, "1", "poll");
    expect((await nodes.report(everything)).nodes).toHaveLength(1);
    const down = () => {
      throw new PortolanError("down");
    };
    const silent = nodesOf({ ...store, list: down, put: async () => down() }, "c");
    silent.has(web, "1", "poll");
    await silent.write();
    expect((await silent.report(everything)).nodes).toHaveLength(1);
  });
});

describe("records of other fronts", () => {
  /** A record of one node, as a front of that name writes it. */
  const recordOf = (front: string, filler = "") => ({
    at: new Date(clock.ms).toISOString(),
    filler,
    nodes: [{ node: `node-of-${front}`, resources: [] }],
  });
  async function storeWith(count: number, filler = ""): Promise<ObjectStore> {
    const store = memoryStore();
    for (let i = 0; i < count; i += 1) {
      const front = `front-${String(i).padStart(4, "0")}`;
      await store.put(`status/${front}/0`, new TextEncoder().encode(JSON.stringify(recordOf(front, filler))));
    }
    return store;
  }

  it("are read many at a time, and not all at once", async () => {
    const store = await storeWith(300);
    let [open, most] = [0, 0];
    const get: ObjectStore["get"] = async (...asked) => {
      open += 1;
      most = Math.max(most, open);
      const found = await store.get(...asked);
      // One more turn, so that those that may be open at a time are.
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return found;
    };
    const report = await nodesOf({ ...store, get }, "own").report(everything);
    expect(report.nodes).toHaveLength(300);
    expect(report).not.toHaveProperty("unread");
    expect(most).toBe(48);
  });

  it("are left out where they do not come in time, and counted", async () => {
    const store = await storeWith(10);
    const late = new AbortController();
    const get: ObjectStore["get"] = (key, ...rest) => {
      if (key === "status/front-0009/0") late.abort();
      return key === "status/front-0003/0" ? new Promise(() => {}) : store.get(key, ...rest);
    };
    const report = await nodesOf({ ...store, get }, "own", {}, () => late.signal).report(everything);
    expect(report.nodes.map(({ node }) => node)).not.toContain("node-of-front-0003");
    expect(report.unread).toBeGreaterThanOrEqual(1);
    expect(report.unread).toBe(10 - report.nodes.length);
  });

  it("are left out where the store does not even list them in time", async () => {
    const late = new AbortController();
    const silent: ObjectStore["list"] = async function* () {
      late.abort();
      await new Promise(() => {});
      yield { key: "", sizeBytes: 0, modifiedMs: 0 };
    };
    const report = await nodesOf({ ...memoryStore(), list: silent }, "own", {}, () => late.signal).report(everything);
    expect(report).toEqual({ nodes: [], more: 0, unread: 1 });
  });

  it("are read up to a number of them", async () => {
    const report = await nodesOf(await storeWith(1_003), "own").report({ part: "", limit: 2_000 });
    expect([report.nodes.length, report.unread]).toEqual([1_000, 1]);
  });

  it("are read up to a number of bytes", async () => {
    const store = await storeWith(130, "x".repeat(1024 * 1024));
    let bytes = 0;
    const get: ObjectStore["get"] = async (...asked) => {
      const found = await store.get(...asked);
      if (found.kind === "found") bytes += found.bytes.length;
      return found;
    };
    const report = await nodesOf({ ...store, get }, "own").report(everything);
    // Those that are under way when there is enough are read to their end.
    expect(bytes).toBeLessThan((64 + 49) * 1.1 * 1024 * 1024);
    expect(report.unread).toBe(130 - report.nodes.length);
    expect(report.unread).toBeGreaterThan(0);
  });
});
