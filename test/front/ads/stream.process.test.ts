import { afterEach, describe, expect, it } from "vitest";
import { authenticateBy, identified } from "../../../lib/front/auth/authentication.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import type { FrontOptions } from "../../../lib/front/front.ts";
import type { RunningServer } from "../../../lib/front/node-server.ts";
import { recordedNodes } from "../../../lib/front/nodes/node-records.ts";
import type { NodeState } from "../../../lib/front/nodes/node-state.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { type ShapeContents, worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, type TestFront, testFront } from "../fixtures.ts";
import { openStream, type TestStream, withBinary } from "./streams.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const web = (contents: ShapeContents) => withBinary(worldOf({ web: contents }));

async function serving(
  contents: ShapeContents,
  options: Partial<FrontOptions> = {},
): Promise<
  TestFront & { readonly url: string; change(to: ShapeContents): Promise<void>; readonly server: RunningServer }
> {
  const test = testFront(options);
  await test.publish(web(contents));
  const server = await serveGrpc(test.front, 0);
  closing.push(server.close, test.front.close);
  return { ...test, url: server.url, server, change: (to) => test.publish(web(to)) };
}

function stream(url: string, kind: "sotw" | "delta", headers: Readonly<Record<string, string>> = {}): TestStream {
  const opened = openStream(url, kind, headers);
  closing.push(opened.close);
  return opened;
}

/** Accepts an answer, with the names that are wanted. */
async function accept(on: TestStream, names: readonly string[] = []): Promise<readonly string[]> {
  const { type, nonce, resources } = await on.next();
  if (type !== undefined) on.ask({ type, nonce, names });
  return resources;
}

describe("a state-of-the-world stream", () => {
  it("says all clusters whenever one changes, and of routes what changed", async () => {
    const { url, change } = await serving({ clusters: { a: "1", b: "1" }, routes: { r: "1", s: "1", t: "1" } });
    const on = stream(url, "sotw");
    on.ask({ type: "clusters" });
    expect(await accept(on)).toEqual(["+a=1", "+b=1"]);
    on.ask({ type: "routes", names: ["r", "s"] });
    expect(await accept(on, ["r", "s"])).toEqual(["+r=1", "+s=1"]);
    expect(await on.isQuiet()).toBe(true);
    await change({ clusters: { a: "2", b: "1" }, routes: { r: "1", s: "2", t: "2" } });
    expect(await accept(on)).toEqual(["+a=2", "+b=1"]);
    expect(await accept(on, ["r", "s"])).toEqual(["+s=2"]);
    expect(await on.isQuiet()).toBe(true);
  });

  it("keeps a cluster that is gone until the routes are told, where they change with it", async () => {
    const { url, change } = await serving({ clusters: { a: "1", b: "1" }, routes: { r: "a" } });
    const on = stream(url, "sotw");
    on.ask({ type: "clusters" });
    await accept(on);
    on.ask({ type: "routes", names: ["r"] });
    await accept(on, ["r"]);
    await change({ clusters: { b: "1", c: "1" }, routes: { r: "c" } });
    expect(await accept(on)).toEqual(["+b=1", "+c=1", "+a=1"]);
    expect(await accept(on, ["r"])).toEqual(["+r=c"]);
    expect(await accept(on)).toEqual(["+b=1", "+c=1"]);
    await change({ clusters: { b: "1" }, routes: { r: "c" } });
    expect(await accept(on)).toEqual(["+b=1"]);
    expect(await on.isQuiet()).toBe(true);
  });

  it("says nothing to a reader whose version is current, of clusters, and routes all the same", async () => {
    const { url } = await serving({ clusters: { a: "1" }, routes: { r: "1" } });
    const first = stream(url, "sotw");
    first.ask({ type: "clusters" });
    const { version } = await first.next();
    first.close();
    const again = stream(url, "sotw");
    again.ask({ type: "clusters", version });
    expect(await again.isQuiet()).toBe(true);
    again.ask({ type: "routes", names: ["r"], version });
    expect(await accept(again, ["r"])).toEqual(["+r=1"]);
  });

  it("answers a reader who repeats what he has accepted: he has a new use for it", async () => {
    const { url } = await serving({ endpoints: { a: "1" } });
    const on = stream(url, "sotw");
    on.ask({ type: "endpoints", names: ["a"] });
    const { nonce } = await on.next();
    on.ask({ type: "endpoints", names: ["a"], nonce });
    expect(await on.isQuiet()).toBe(true);
    on.ask({ type: "endpoints", names: ["a"], nonce });
    expect(await accept(on, ["a"])).toEqual(["+a=1"]);
  });
});

describe("a delta stream", () => {
  it("says what changed, the new in order of warming and the gone the other way round", async () => {
    const { url, change } = await serving({
      clusters: { a: "1", b: "1" },
      endpoints: { a: "1", b: "1" },
      listeners: { l: "1", m: "1" },
      routes: { r: "1", s: "1" },
    });
    const on = stream(url, "delta");
    on.ask({ type: "clusters" });
    expect(await accept(on)).toEqual(["+a=1", "+b=1"]);
    on.ask({ type: "endpoints", names: ["a", "b"] });
    on.ask({ type: "listeners" });
    on.ask({ type: "routes", names: ["r", "s"] });
    for (const _ of [1, 2, 3]) await accept(on);
    expect(await on.isQuiet()).toBe(true);
    await change({
      clusters: { b: "1", c: "1" },
      endpoints: { b: "2" },
      listeners: { l: "2" },
      routes: { r: "2" },
    });
    const said = [];
    for (let i = 0; i < 8; i += 1) {
      const { type, resources, nonce } = await on.next();
      said.push(`${type} ${resources.join(" ")}`);
      if (type !== undefined) on.ask({ type, nonce });
    }
    expect(said).toEqual([
      "clusters +c=1",
      "endpoints +b=2",
      "listeners +l=2",
      "routes +r=2",
      "routes -s",
      "listeners -m",
      "endpoints -a",
      "clusters -a",
    ]);
    expect(await on.isQuiet()).toBe(true);
  });

  it("sends the endpoints of a cluster that changed along with it, though nobody asks", async () => {
    const { url, change } = await serving({ clusters: { a: "1", b: "1" }, endpoints: { a: "1", b: "1" } });
    const on = stream(url, "delta");
    on.ask({ type: "clusters" });
    await accept(on);
    on.ask({ type: "endpoints", names: ["a", "b"] });
    await accept(on);
    await change({ clusters: { a: "2", b: "1" }, endpoints: { a: "1", b: "1" } });
    expect(await accept(on)).toEqual(["+a=2"]);
    expect(await accept(on)).toEqual(["+a=1"]);
    expect(await on.isQuiet()).toBe(true);
  });

  it("says nothing to a reader who comes back and has everything, and else what he lacks", async () => {
    const { url } = await serving({ clusters: { a: "1", b: "1" }, routes: { r: "1" } });
    const on = stream(url, "delta");
    on.ask({ type: "clusters" });
    const { versions } = await on.next();
    const again = stream(url, "delta");
    again.ask({ type: "clusters", known: versions });
    expect(await again.isQuiet()).toBe(true);
    const other = stream(url, "delta");
    other.ask({ type: "clusters", known: { ...versions, a: "old", z: "1" } });
    expect(await accept(other)).toEqual(["+a=1"]);
    expect(await accept(other)).toEqual(["-z"]);
  });

  it("says which names nobody has, and brings them when somebody does", async () => {
    const { url, change } = await serving({ routes: { r: "1" } });
    const on = stream(url, "delta");
    on.ask({ type: "routes", names: ["r", "s"] });
    expect(await accept(on)).toEqual(["+r=1", "-s"]);
    await change({ routes: { r: "1", s: "1" } });
    expect(await accept(on)).toEqual(["+s=1"]);
  });
});

const authentication = authenticateBy("by name", [
  ({ header }) => {
    const namespace = header("x-namespace");
    return namespace === undefined
      ? undefined
      : Promise.resolve(identified({ kind: "node", subject: namespace, namespace }));
  },
]);

describe.each(["sotw", "delta"] as const)("a stream, %s", (kind) => {
  it("is for those who prove who they are, and for the node that they are", async () => {
    const { url } = await serving({ clusters: { a: "1" } }, { authentication });
    const [nobody, stranger, node] = [{}, { "x-namespace": "other" }, { "x-namespace": "default" }].map((headers) =>
      stream(url, kind, headers),
    );
    for (const on of [nobody, stranger, node]) on?.ask({ type: "clusters" });
    expect(await nobody?.end()).toContain("unauthenticated");
    expect(await stranger?.end()).toContain("permission_denied");
    expect((await node?.next())?.resources).toEqual(["+a=1"]);
  });

  it("ends with the reason for a node without a class or an id, and for names without end", async () => {
    const { url } = await serving({}, { limits: { ...limits, names: 2 } });
    const endOf = (ask: Parameters<TestStream["ask"]>[0]) => {
      const on = stream(url, kind);
      on.ask(ask);
      return on.end();
    };
    expect(await endOf({ type: "clusters", node: nodeOf("nobody") })).toContain("not_found");
    expect(await endOf({ type: "clusters", node: { id: "" } })).toContain("node has no id");
    expect(await endOf({ type: "routes", names: ["a", "b", "c"] })).toContain("more than 2 different names");
  });

  it("remembers no more of all readers than it may", async () => {
    const { url } = await serving({ routes: { r: "1" } }, { limits: { ...limits, watchedBytes: 5_000 } });
    const on = stream(url, kind);
    on.ask({ type: "routes", names: ["r"] });
    expect(await accept(on, ["r"])).toEqual(["+r=1"]);
    on.ask({ type: "endpoints", names: Array.from({ length: 100 }, (_, i) => `endpoint ${i}`) });
    expect(await on.end()).toContain("resource_exhausted");
    const next = stream(url, kind);
    next.ask({ type: "routes", names: ["r"] });
    expect(await accept(next, ["r"])).toEqual(["+r=1"]);
  });

  it("remembers no more of one reader than it may, however little he asks for at a time", async () => {
    const { url } = await serving({ routes: { r: "1" } }, { limits: { ...limits, streamBytes: 100_000 } });
    const on = stream(url, kind);
    on.ask({ type: "routes", names: ["r"] });
    let names: readonly string[] = [];
    const asking = async () => {
      for (let turn = 0; turn < 50; turn += 1) {
        const { nonce } = await on.next();
        const more = Array.from({ length: 100 }, (_, i) => `route ${turn} ${i}`);
        names = kind === "sotw" ? [...names, ...more] : more;
        on.ask({ type: "routes", names, nonce });
      }
    };
    await expect(asking()).rejects.toThrow("resource_exhausted");
    const next = stream(url, kind);
    next.ask({ type: "routes", names: ["r"] });
    expect(await accept(next, ["r"])).toEqual(["+r=1"]);
  });

  it("takes no more streams than it may, and those that end make room", async () => {
    const { url } = await serving({ clusters: { a: "1" } }, { limits: { ...limits, discoveryStreams: 1 } });
    const first = stream(url, kind);
    first.ask({ type: "clusters" });
    await first.next();
    const second = stream(url, kind);
    second.ask({ type: "clusters" });
    expect(await second.end()).not.toBe("");
    first.close();
    await first.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const third = stream(url, kind);
    third.ask({ type: "clusters" });
    expect((await third.next()).resources).toEqual(["+a=1"]);
  });

  it("says a refusal in the reader's own words, with the objects behind it, until it takes something else", async () => {
    const { url, change, request } = await serving({ clusters: { a: "1", b: "1" } });
    const refusals = async () => JSON.parse(await (await request("/refusals")).text()).refusals;
    const on = stream(url, kind);
    on.ask({ type: "clusters" });
    await accept(on);
    await change({ clusters: { a: "2", b: "2" } });
    const { type, nonce, version } = await on.next();
    expect(type).toBe("clusters");
    on.ask({ type: "clusters", nonce, error: "Error adding/updating cluster(s) b: no" });
    expect(await on.isQuiet()).toBe(true);
    expect(await refusals()).toMatchObject([
      {
        nodeId: nodeOf("web").id,
        type: "clusters",
        refused: version,
        error: "Error adding/updating cluster(s) b: no",
        suspects: [{ name: "b", from: ["VirtualService/default/b"] }],
      },
    ]);
    await change({ clusters: { a: "2", b: "3" } });
    await accept(on);
    expect(await on.isQuiet()).toBe(true);
    expect(await refusals()).toEqual([]);
  });

  it("ends when the front closes, with a word to come again", async () => {
    const { url, front, server } = await serving({ clusters: { a: "1" } });
    const on = stream(url, kind);
    on.ask({ type: "clusters" });
    await accept(on);
    const startMs = performance.now();
    front.close();
    const closed = server.close();
    expect(await on.end()).toContain("connect again");
    await closed;
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  it("ends at its age, without an error, and a reader comes again", async () => {
    const { url } = await serving({ clusters: { a: "1" } }, { limits: { ...limits, streamMs: 300 } });
    const on = stream(url, kind);
    on.ask({ type: "clusters" });
    await accept(on);
    expect(await on.end()).toBe("");
  });

  it("asks nothing of a snapshot without binary forms but that it be published with them", async () => {
    const test = testFront();
    await test.publish(worldOf({ web: { clusters: { a: "1" } } }));
    const server = await serveGrpc(test.front, 0);
    closing.push(server.close, test.front.close);
    const on = stream(server.url, kind);
    on.ask({ type: "clusters" });
    expect(await on.end()).toContain("no binary forms");
  });
});

describe("what nodes have", () => {
  it("is known of streams as of polls, once they have said that they took it", async () => {
    const store = memoryStore();
    const nodes = recordedNodes(store, { front: undefined, now: Date.now, everyMs: 0, limits, onError: () => {} });
    const { url } = await serving({ clusters: { a: "1" } }, { nodes, store });
    const on = stream(url, "delta");
    on.ask({ type: "clusters" });
    expect((await nodes.report({ part: "", limit: 1 })).nodes).toEqual([]);
    await accept(on);
    expect(await on.isQuiet()).toBe(true);
    expect(await nodes.report({ part: "", limit: 1 })).toMatchObject({
      nodes: [{ node: nodeOf("web").id, resources: [{ type: "clusters", transport: "delta" }] }],
    });
  });

  it("is what is in force, too, where a change is none of what they asked for, and as long as they are silent", async () => {
    const clock = { ms: Date.now() };
    const now = () => clock.ms;
    const nodes = recordedNodes(memoryStore(), { front: undefined, now, everyMs: 0, limits, onError: () => {} });
    // Streams say twice in this time that they are there.
    const short = { ...limits, refusalMs: 400 };
    const { url, change, request } = await serving({ routes: { r: "1", s: "1" } }, { nodes, limits: short });
    const states = async () => {
      const { nodes: told } = Object(await (await request("/status/nodes")).json());
      return told.map(({ resources }: NodeState) => resources.map(({ type, state }) => `${type} ${state}`));
    };
    const on = stream(url, "sotw");
    on.ask({ type: "routes", names: ["r"] });
    await accept(on, ["r"]);
    expect(await on.isQuiet()).toBe(true);
    expect(await states()).toEqual([["routes synced"]]);
    await change({ routes: { r: "1", s: "2" } });
    expect(await on.isQuiet()).toBe(true);
    await expect.poll(states).toEqual([["routes synced"]]);
    // The others are forgotten after a quarter of an hour.
    clock.ms += limits.refusalMs;
    await expect.poll(async () => nodes.active().length, { timeout: 5_000 }).toBe(1);
  });
});
