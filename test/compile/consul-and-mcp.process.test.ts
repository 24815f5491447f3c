import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { analysisOf } from "../../lib/cli/config/analysis-report.ts";
import { createCollector } from "../../lib/collect/collector.ts";
import { createSourcesCompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { mcpKinds } from "../../lib/mcp/kinds.ts";
import { mcpOrigin } from "../../lib/mcp/origin.ts";
import type { McpStream, StreamOptions } from "../../lib/mcp/stream.ts";
import { consulOrigin } from "../../lib/registry/consul/origin.ts";
import type { Origin } from "../../lib/registry/origin/origin.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { entry } from "../mcp/test-source.ts";
import { FakeConsul } from "../registry/consul/fake-consul.ts";
import { hurry } from "../registry/kubernetes/fake-api-server.ts";

const sidecar = `
apiVersion: v1
kind: Pod
metadata: { name: caller-1, namespace: default, labels: { app: caller } }
spec:
  containers: [{ name: istio-proxy, args: [proxy, sidecar] }]
status: { phase: Running, podIP: 10.9.0.1, podIPs: [{ ip: 10.9.0.1 }], conditions: [{ type: Ready, status: "True" }] }
`;

let store: ObjectStore;
let stop: AbortController;
const running: Promise<void>[] = [];

beforeEach(async () => {
  store = memoryStore();
  stop = new AbortController();
  await writeShard(store, "main", [{ file: "caller.yaml", text: sidecar }]);
});

afterEach(async () => {
  stop.abort();
  await Promise.all(running.splice(0));
});

/** Collects until told otherwise. @returns what waits for the next push */
function collect(source: string, origin: Origin): () => Promise<void> {
  let pushes = 0;
  let seen = 0;
  const collector = createCollector({
    store,
    source,
    origin,
    pace: hurry,
    gatherMs: 0,
    pushed: () => {
      pushes += 1;
    },
  });
  running.push(collector.run(stop.signal));
  return async () => {
    while (pushes === seen) await new Promise((resolve) => setTimeout(resolve, 2));
    seen = pushes;
  };
}

/** The endpoints of clusters for services of which some name ends so, one line each. */
async function clustersOf(compile: ReturnType<typeof createSourcesCompiler>, suffix: string) {
  const { compiled } = await compile();
  const resources = compiled.value.classes.flatMap(({ stream }) => resourcesIn(stream.endpoints));
  const lines = resources
    .filter(({ name }) => name.endsWith(suffix))
    .map(({ name, text }) => `${name} ${[...text.matchAll(/"address":"([\d.]+)"/g)].map(([, address]) => address)}`);
  return { lines: [...new Set(lines)].sort(), compiled };
}

describe("services of Consul", () => {
  it("are compiled beside the folder's, and follow what is registered", async () => {
    const consul = new FakeConsul();
    consul.set("reviews", [{ id: "r1", passing: true }]);
    const client = { fetch: consul.fetch, baseUrl: "http://consul.test" };
    const pushed = collect("consul", consulOrigin(client, [], { health: "any", pace: hurry }));
    await pushed();
    const compile = createSourcesCompiler({ store });
    expect((await clustersOf(compile, "service.consul")).lines).toEqual([
      "outbound|80||reviews.service.consul 10.0.0.1",
    ]);
    consul.set("ratings", [{ id: "a1", passing: true }]);
    await pushed();
    expect((await clustersOf(compile, "service.consul")).lines).toEqual([
      "outbound|80||ratings.service.consul 10.0.0.1",
      "outbound|80||reviews.service.consul 10.0.0.1",
    ]);
    consul.set("reviews", []);
    await pushed();
    const last = await clustersOf(compile, "service.consul");
    expect(last.lines).toEqual(["outbound|80||ratings.service.consul 10.0.0.1"]);
    // A compiler that remembers nothing comes to the same.
    const fresh = await clustersOf(createSourcesCompiler({ store }), "service.consul");
    expect(fresh.compiled.value).toEqual(last.compiled.value);
  });

  it("are known to the analysers", async () => {
    const consul = new FakeConsul();
    consul.set("reviews", [{ id: "r1", passing: true }]);
    const route = (host: string) => `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: ${host}, namespace: default }
spec: { hosts: [${host}.test], http: [{ route: [{ destination: { host: ${host}.service.consul } }] }] }
`;
    await writeShard(store, "main", [
      { file: "caller.yaml", text: sidecar },
      { file: "reviews.yaml", text: route("reviews") },
      { file: "unknown.yaml", text: route("unknown") },
    ]);
    const client = { fetch: consul.fetch, baseUrl: "http://consul.test" };
    await createCollector({ store, source: "consul", origin: consulOrigin(client, [], { health: "any" }) }).once();
    const { compiled } = await createSourcesCompiler({ store })();
    const notFound = analysisOf(compiled.loaded).filter(({ code }) => code === "IST0101");
    expect(notFound.map(({ origin }) => origin.key.name)).toEqual(["unknown"]);
  });

  it("say where they stand when their instances disagree", async () => {
    const instance = (id: string, protocol: string) => ({
      Node: "n",
      Address: "10.0.0.1",
      Datacenter: "dc1",
      ServiceID: id,
      ServiceName: "a",
      ServicePort: 80,
      ServiceMeta: { protocol },
    });
    const fetch = async (url: string) =>
      Response.json(url.includes("/catalog/service/") ? [instance("1", "http"), instance("2", "grpc")] : { a: [] });
    const origin = consulOrigin({ fetch, baseUrl: "http://consul.test" }, [], { health: "any" });
    await createCollector({ store, source: "east", origin }).once();
    const { compiled } = await createSourcesCompiler({ store })();
    expect(compiled.diagnostics.filter(({ code }) => code === "consul-port-protocols-differ")).toMatchObject([
      { origin: { file: "source east", key: { kind: "ConsulService", namespace: "dc1", name: "a" } } },
    ]);
  });
});

describe("objects of a source of MCP", () => {
  /** A stream that a test speaks through. */
  function testStream() {
    const opened: StreamOptions[] = [];
    const stream: McpStream = (options, signal) => {
      opened.push(options);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    };
    return { stream, opened };
  }

  it("are compiled beside the folder's, whatever they are called", async () => {
    const { stream, opened } = testStream();
    const kinds = mcpKinds.filter(({ kind }) => kind === "ServiceEntry");
    const origin = mcpOrigin({
      stream,
      protocol: "resources",
      address: "mcp://nacos.test",
      kinds,
      node: "test",
      pace: hurry,
    });
    const pushed = collect("nacos", origin);
    const [options] = opened;
    for (const subscription of options?.subscriptions ?? []) {
      const resources = subscription.includes("synthetic")
        ? []
        : [entry("public/reviews.DEFAULT-GROUP.public", "reviews.nacos", "4")];
      expect(options?.onPush({ subscription, resources, removed: [], isIncremental: false })).toBeUndefined();
    }
    await pushed();
    const { lines, compiled } = await clustersOf(createSourcesCompiler({ store }), "reviews.nacos");
    expect(lines).toEqual(["outbound|80||reviews.nacos 10.0.0.1"]);
    expect(compiled.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    const place = compiled.loaded.configs.find(({ meta }) => meta.kind === "ServiceEntry")?.origin.file;
    expect(place).toBe("source nacos, version 4");
  });
});
