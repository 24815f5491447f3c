import { afterEach, describe, expect, it } from "vitest";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { type ShapeContents, worldOf } from "../../snapshot/worlds.ts";
import { testFront } from "../fixtures.ts";
import { openStream, type TestStream, withBinary } from "./streams.ts";

/** Longer than any of these tests takes. */
const pace = { settleMs: 60_000, retentionMs: 60_000 };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const before = { clusters: { a: "1" }, endpoints: { a: "1" }, routes: { r: "a" } };
const after = { clusters: { a: "1", b: "1" }, endpoints: { a: "1", b: "1" }, routes: { r: "a b" } };

async function serving(contents: ShapeContents) {
  const test = testFront();
  const publisher = createPublisher(test.store, { pace });
  const change = async (to: ShapeContents) => {
    await publisher.publish(withBinary(worldOf({ web: to })), await publisher.head());
  };
  await change(contents);
  const server = await serveGrpc(test.front, 0);
  closing.push(server.close, test.front.close);
  const open = (kind: "sotw" | "delta") => {
    const opened = openStream(server.url, kind);
    closing.push(opened.close);
    return opened;
  };
  return { change, open };
}

async function accept(on: TestStream, names: readonly string[] = []): Promise<readonly string[]> {
  const { type, nonce, resources } = await on.next();
  if (type !== undefined) on.ask({ type, nonce, names });
  return resources;
}

describe.each([
  { kind: "sotw", all: ["+a=1", "+b=1"] },
  { kind: "delta", all: ["+b=1"] },
] as const)("a switch on a stream of kind $kind", ({ kind, all }) => {
  it("comes once its reader has accepted the clusters and their endpoints, and not before", async () => {
    const { change, open } = await serving(before);
    const on = open(kind);
    const again = (names: readonly string[]) => (kind === "sotw" ? names : []);
    on.ask({ type: "clusters" });
    await accept(on);
    on.ask({ type: "endpoints", names: ["a"] });
    await accept(on, again(["a"]));
    on.ask({ type: "routes", names: ["r"] });
    expect(await accept(on, again(["r"]))).toEqual(["+r=a"]);
    await change(after);
    const clusters = await on.next();
    expect(clusters.resources).toEqual(all);
    expect(await on.isQuiet()).toBe(true);
    // Envoy asks for the endpoints of what is new before it says that it takes it.
    on.ask({ type: "endpoints", names: kind === "sotw" ? ["a", "b"] : ["b"], nonce: "2" });
    on.ask({ type: "clusters", nonce: clusters.nonce });
    const endpoints = await on.next();
    expect([endpoints.type, endpoints.resources.includes("+b=1")]).toEqual(["endpoints", true]);
    expect(await on.isQuiet()).toBe(true);
    on.ask({ type: "endpoints", names: again(["a", "b"]), nonce: endpoints.nonce });
    expect(await accept(on, again(["r"]))).toEqual(["+r=a b"]);
  });

  it("does not come to a reader who refuses the clusters, and is not taken back from one who comes again", async () => {
    const { change, open } = await serving(before);
    const on = open(kind);
    on.ask({ type: "clusters" });
    await accept(on);
    on.ask({ type: "routes", names: ["r"] });
    const routes = await on.next();
    on.ask({ type: "routes", names: kind === "sotw" ? ["r"] : [], nonce: routes.nonce });
    await change(after);
    const clusters = await on.next();
    on.ask({ type: "clusters", nonce: clusters.nonce, error: "b is not to my liking" });
    expect(await on.isQuiet()).toBe(true);

    const next = open(kind);
    const { version, versions } = clusters;
    next.ask({ type: "clusters", version, known: { a: "1", ...versions } });
    if (kind === "delta") await accept(next);
    next.ask({ type: "routes", names: ["r"] });
    expect(await accept(next)).toEqual(["+r=a b"]);
  });
});
