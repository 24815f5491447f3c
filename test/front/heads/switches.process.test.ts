import { describe, expect, it } from "vitest";
import type { FrontOptions } from "../../../lib/front/front.ts";
import type { CompiledResource, CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import type { ResourceType } from "../../../lib/snapshot/resource-type.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

/** Longer than any of these tests takes: whoever waits for the time waits in vain. */
const pace = { settleMs: 60_000, retentionMs: 60_000 };
const held = { "x-envoy-expected-rq-timeout-ms": "30000" };

/** A class whose one route table names all of its clusters. */
const routing = (...services: readonly string[]) => ({
  clusters: Object.fromEntries(services.map((name) => [name, "1"])),
  listeners: { l: "1" },
  routes: { "80": services.join(" ") },
});
const mesh = (...services: readonly string[]) => worldOf({ web: routing(...services) });

interface Discovery {
  readonly version_info: string;
  readonly resources: readonly { readonly name: string; readonly content: string }[];
}

/** An Envoy, as far as its polls go: it takes what it is given. */
function envoyOf({ poll }: Pick<ReturnType<typeof testFront>, "poll">, node: object) {
  const versions = new Map<ResourceType, string>();
  const contents = new Map<ResourceType, string>();
  return {
    content: (type: ResourceType) => contents.get(type),
    versions,
    /** One poll of a type; `unchanged` where the answer says so. */
    async polls(type: ResourceType, headers: Readonly<Record<string, string>> = {}): Promise<string> {
      const names = type === "routes" ? { names: ["80"] } : {};
      const version = versions.get(type);
      const asked = { ...names, ...(version === undefined ? {} : { version }) };
      const response = await poll(type, pollBody(type, node, asked), headers);
      if (response.status === 304) return "unchanged";
      expect(response.status).toBe(200);
      const { version_info, resources }: Discovery = JSON.parse(await response.text());
      versions.set(type, version_info);
      const content = resources.map((one) => (type === "routes" ? one.content : one.name)).join(" ");
      contents.set(type, content);
      return content;
    },
    async startsWith(...types: readonly ResourceType[]): Promise<void> {
      for (const type of types) await this.polls(type);
    },
  };
}

async function meshOf(world: CompiledWorld, options: Partial<FrontOptions> = {}) {
  const test = testFront(options);
  const now = options.now === undefined ? {} : { now: options.now };
  const publisher = createPublisher(test.store, { pace, ...now });
  const publish = async (next: CompiledWorld) => {
    const { kind } = await publisher.publish(next, await publisher.head());
    expect(kind).toBe("published");
  };
  await publish(world);
  return { ...test, publish };
}

async function webOf(world: CompiledWorld, options: Partial<FrontOptions> = {}) {
  const test = await meshOf(world, options);
  const envoy = envoyOf(test, nodeOf("web"));
  await envoy.startsWith("clusters", "listeners", "routes");
  return { ...test, envoy };
}

describe("a switch", () => {
  it("is for a node as soon as it says that it has the clusters, and for no other", async () => {
    const nodes = [{ keys: ["web.default", "web-1.default"], classId: "web" }];
    const { publish, poll, envoy } = await webOf({ ...mesh("a"), nodes });
    const other = envoyOf({ poll }, nodeOf("web-1"));
    await publish({ ...mesh("a", "b"), nodes });
    expect(await envoy.polls("routes")).toBe("unchanged");
    expect(await envoy.polls("clusters")).toBe("a b");
    // Given is not taken: an Envoy can refuse what it is given.
    expect(await envoy.polls("routes")).toBe("unchanged");
    expect(await envoy.polls("clusters")).toBe("unchanged");
    expect(await envoy.polls("routes")).toBe("a b");
    await other.startsWith("clusters", "routes");
    expect(other.content("routes")).toBe("a");
  });

  it("wakes the polls that a node's front holds when the node says that it has the clusters", async () => {
    const { publish, envoy } = await webOf(mesh("a"), { maxHoldMs: 20_000 });
    const routes = envoy.polls("routes", held);
    const clusters = envoy.polls("clusters", held);
    await publish(mesh("a", "b"));
    expect(await clusters).toBe("a b");
    const next = envoy.polls("clusters", held);
    expect(await routes).toBe("a b");
    await publish(mesh("a", "b", "c"));
    expect(await next).toBe("a b c");
  });

  it("is for a class at once that has all it needs, whatever others wait for", async () => {
    const before = { web: routing("a"), shop: { ...routing("a"), routes: { "80": "old" } } };
    const { publish, poll } = await meshOf(worldOf(before));
    const shop = envoyOf({ poll }, nodeOf("shop"));
    const web = envoyOf({ poll }, nodeOf("web"));
    await shop.startsWith("clusters", "routes");
    await web.startsWith("clusters", "routes");
    await publish(worldOf({ web: routing("a", "b"), shop: { ...routing("a"), routes: { "80": "new" } } }));
    expect(await shop.polls("routes")).toBe("new");
    expect(await web.polls("routes")).toBe("unchanged");
  });

  it("is for a class at once that nobody was served before", async () => {
    const { publish, poll } = await meshOf(mesh("a"));
    await publish(worldOf({ web: routing("a", "b"), late: routing("c") }));
    const late = envoyOf({ poll }, nodeOf("late"));
    await late.startsWith("clusters", "routes");
    expect([late.content("clusters"), late.content("routes")]).toEqual(["c", "c"]);
  });

  it("is not taken back when another change follows before the first is everybody's", async () => {
    const { publish, envoy } = await webOf(mesh("a"));
    await publish(mesh("a", "b"));
    await envoy.startsWith("clusters", "clusters", "routes");
    expect(envoy.content("routes")).toBe("a b");
    await publish(mesh("a", "b", "c"));
    expect(await envoy.polls("routes")).toBe("unchanged");
    expect(await envoy.polls("clusters")).toBe("a b c");
    expect(await envoy.polls("routes")).toBe("unchanged");
    await envoy.polls("clusters");
    expect(await envoy.polls("routes")).toBe("a b c");
    // And back, past what was to be dropped meanwhile.
    await publish(mesh("a"));
    await envoy.polls("clusters");
    await envoy.polls("clusters");
    expect(await envoy.polls("routes")).toBe("a");
  });

  it("never waits for what earlier changes are about to drop, however many there are", async () => {
    let nowMs = 1_000_000;
    const world = (name: string) =>
      worldOf(
        { [`class-${name}`]: routing("a", name) },
        { nodes: [{ keys: ["web.default"], classId: `class-${name}` }] },
      );
    const { publish, envoy } = await webOf(world("b0"), { now: () => nowMs });
    for (let i = 1; i <= 30; i += 1) {
      nowMs += 17_000;
      await publish(world(`b${i}`));
      await envoy.startsWith("clusters", "clusters");
      expect(await envoy.polls("routes")).toBe(`a b${i}`);
      await envoy.startsWith("clusters", "clusters");
      // What was dropped is gone in the end, however soon the next change comes.
      expect(envoy.content("clusters")?.split(" ").length).toBeLessThan(14);
    }
  });

  it("waits for clusters that an earlier change has brought, although it brings none itself", async () => {
    const { publish, envoy } = await webOf(mesh("a"));
    await publish(worldOf({ web: { ...routing("a", "b"), routes: { "80": "a" } } }));
    await publish(mesh("a", "b"));
    expect(await envoy.polls("routes")).toBe("unchanged");
    await envoy.startsWith("clusters", "clusters");
    expect(await envoy.polls("routes")).toBe("a b");
  });

  it("is not taken back by a front that begins in the middle of it, nor by another one beside it", async () => {
    const { publish, store, envoy } = await webOf(mesh("a"));
    const changed = { clusters: { a: "1", b: "1" }, listeners: { l: "2" }, routes: { "80": "a b", "81": "b" } };
    await publish(worldOf({ web: changed }));
    await envoy.startsWith("clusters", "clusters", "listeners", "routes");
    expect(envoy.content("routes")).toBe("a b");

    const other = testFront({ store });
    const again = envoyOf(other, nodeOf("web"));
    for (const [type, version] of envoy.versions) again.versions.set(type, version);
    expect(await again.polls("listeners")).toBe("unchanged");
    expect(await again.polls("routes")).toBe("unchanged");
    const added = await other.poll("routes", pollBody("routes", nodeOf("web"), { names: ["81"] }));
    expect(added.status).toBe(200);
    // The next poll for clusters says what was lost.
    expect(await again.polls("clusters")).toBe("unchanged");
    again.versions.delete("routes");
    expect(await again.polls("routes")).toBe("a b");
  });

  it.each([
    ["ahead", 3_600_000],
    ["behind", -3_600_000],
  ])(
    "is for a node that has the clusters, and for no other, where the front's clock is an hour %s",
    async (_, skewMs) => {
      const { publish, store } = await meshOf(mesh("a"));
      const skewed = testFront({ store, now: () => Date.now() + skewMs });
      const envoy = envoyOf(skewed, nodeOf("web"));
      await envoy.startsWith("clusters", "routes");
      await publish(mesh("a", "b"));
      expect(await envoy.polls("routes")).toBe("unchanged");
      await envoy.startsWith("clusters", "clusters");
      expect(await envoy.polls("routes")).toBe("a b");
    },
  );

  it("waits for the time where two Envoys say that they are one node", async () => {
    const { publish, envoy, poll } = await webOf(mesh("a"), { maxHoldMs: 20_000 });
    const twin = envoyOf({ poll }, nodeOf("web"));
    await twin.startsWith("clusters", "routes");
    const polls = [envoy.polls("clusters", held), twin.polls("clusters", held)];
    await new Promise((resolve) => setTimeout(resolve, 50));
    await publish(mesh("a", "b"));
    await Promise.all(polls);
    await envoy.polls("clusters");
    expect(await twin.polls("routes")).toBe("unchanged");
  });

  it("waits for the time where an id may be that of many", async () => {
    const world = (...services: readonly string[]) => ({
      ...mesh(...services),
      nodes: [{ keys: ["my-node"], classId: "web" }],
    });
    const { publish, poll } = await meshOf(world("a"));
    const envoy = envoyOf({ poll }, { id: "my-node" });
    await envoy.startsWith("clusters", "routes");
    await publish(world("a", "b"));
    await envoy.startsWith("clusters", "clusters");
    expect(await envoy.polls("routes")).toBe("unchanged");
  });

  it("waits for the time where clusters have names to look up, endpoints to check or a new secret to fetch", async () => {
    const resolving = mesh("a", "b");
    const resolved = (cluster: CompiledResource) =>
      cluster.name === "b" ? { ...cluster, text: JSON.stringify({ name: "b", type: "STRICT_DNS" }) } : cluster;
    const classes = resolving.classes.map((one) => {
      const clusters = one.poll.clusters.map((part) => part.map(resolved));
      return { ...one, poll: { ...one.poll, clusters }, stream: { ...one.stream, clusters } };
    });
    const { publish, envoy } = await webOf(mesh("a"));
    await publish({ ...resolving, classes });
    await envoy.startsWith("clusters", "clusters");
    expect(await envoy.polls("routes")).toBe("unchanged");
  });

  it("waits for the time where its gate is lost", async () => {
    const { publish, store, envoy } = await webOf(mesh("a"));
    await publish(mesh("a", "b"));
    const read = await readHead(store);
    const gate = read?.head.steps.find((step) => step.gate !== undefined)?.gate ?? "";
    await store.delete(`blobs/${gate.slice(0, 2)}/${gate}`);
    await envoy.startsWith("clusters", "clusters");
    expect(await envoy.polls("routes")).toBe("unchanged");
    await publish(mesh("a", "b", "c"));
    await envoy.startsWith("clusters", "clusters");
    expect(await envoy.polls("routes")).toBe("unchanged");
  });
});
