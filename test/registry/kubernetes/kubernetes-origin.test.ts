import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCollector } from "../../../lib/collect/collector.ts";
import { createCollectedReader } from "../../../lib/compile/collected/collected-shard.ts";
import { createCollectedLoader } from "../../../lib/compile/collected/load-collected.ts";
import { buildRegistry } from "../../../lib/registry/build-registry.ts";
import { jsonLines } from "../../../lib/registry/kubernetes/api/json-lines.ts";
import { kubernetesOrigin } from "../../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { propertyRuns } from "../../soak-options.ts";
import { object, pod, service, slice, world } from "../objects.ts";
import { FakeApiServer, hurry, jsonResponse } from "./fake-api-server.ts";
import { HeldOrigin } from "./held-origin.ts";

const captured = new URL("../../captured/kubernetes/", import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(new URL(file, captured), "utf8"));

const cluster = "Kubernetes";
const originOf = (server: FakeApiServer, pageSize = 500, secretNames = false) =>
  kubernetesOrigin(server.client(), { cluster, pace: hurry, pageSize, secretNames });

async function held(server: FakeApiServer, pageSize?: number): Promise<HeldOrigin> {
  const origin = new HeldOrigin(originOf(server, pageSize));
  await origin.until((one) => one.isWhole());
  return origin;
}

const requestsFor = (server: FakeApiServer, plural: string, watch = false) =>
  server.requests.filter(({ pathname, searchParams }) => {
    const isList = pathname.endsWith(`/${plural}`);
    return isList && searchParams.has("watch") === watch;
  });

/** A server that answers one captured file by its path, and has nothing else. */
function capturedServer() {
  const files: Readonly<Record<string, string>> = {
    "/api/v1/services": "services-list.json",
    "/apis/discovery.k8s.io/v1/endpointslices": "endpointslices-list.json",
    "/api/v1/pods": "pods-list.json",
    "/api/v1/nodes": "nodes-list.json",
    "/api/v1/namespaces": "namespaces-list.json",
    "/api/v1/secrets": "secrets-list.json",
    "/apis/networking.istio.io/v1/virtualservices": "virtualservices-list-v1.json",
    "/apis/networking.k8s.io/v1/ingresses": "ingresses-list.json",
  };
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { pathname, searchParams } = new URL(url);
    const below = Object.keys(files).filter((path) => path.replace(/\/[^/]+$/, "") === pathname);
    if (below.length > 0) {
      return jsonResponse({
        kind: "APIResourceList",
        resources: below.map((path) => ({ name: path.replace(/.*\//, "") })),
      });
    }
    const file = files[pathname];
    if (file === undefined) return new Response("404 page not found\n", { status: 404 });
    if (!searchParams.has("watch")) return jsonResponse(read(file));
    if (searchParams.has("sendInitialEvents")) {
      const [error] = read("services-watchlist-unsupported.json");
      return new Response(`${JSON.stringify(error)}\n`);
    }
    // Nothing happens after the list.
    return new Promise((_resolve, reject) => init.signal?.addEventListener("abort", () => reject(new Error("stop"))));
  };
  return { baseUrl: "http://api.test", fetch };
}

/** Collects into a store, and reads what came of it. */
async function collectedFrom(client: ReturnType<typeof capturedServer>) {
  const store = memoryStore();
  const origin = kubernetesOrigin(client, { cluster, pace: hurry });
  await createCollector({ store, source: "cluster", origin }).once();
  const shard = await createCollectedReader(store, "cluster")();
  if (shard === undefined) throw new Error("nothing was collected");
  return { shard, content: createCollectedLoader()(shard).content };
}

describe("kinds that take turns", () => {
  it("are all read before they take turns in being followed", async () => {
    const server = new FakeApiServer();
    server.streams = false;
    server.put(pod("shop/a", "10.0.0.1"));
    const origin = new HeldOrigin(kubernetesOrigin(server.client(), { cluster, pace: hurry, width: 1 }));
    // Each watch ends as soon as it is looked at, as it does after its two seconds.
    const turns = setInterval(() => server.disconnect("end"), 1);
    await origin.until((one) => one.isWhole()).finally(() => clearInterval(turns));
    await origin.end();
    const isWatch = ({ searchParams }: URL) => searchParams.has("watch");
    const before = server.requests.slice(0, server.requests.indexOf(requestsFor(server, "pods")[0] ?? new URL("no:")));
    expect(before.filter((url) => !isWatch(url)).length).toBeGreaterThan(10);
    // One of a kind that others wait for, and one that began before the pods were asked for.
    expect(before.filter(isWatch).length).toBeLessThanOrEqual(3);
  });
});

describe("the captured answers of an API server", () => {
  it("become the services and endpoints that the reference sheet says", async () => {
    const { content } = await collectedFrom(capturedServer());
    const { value } = buildRegistry(world(content.objects));
    const summary = value.services.map((made) => [made.hostname, made.resolution, made.defaultAddress]);
    expect(summary).toEqual([
      ["kubernetes.default.svc.cluster.local", "ClientSideLB", "10.96.0.1"],
      ["db.shop.svc.cluster.local", "Passthrough", "0.0.0.0"],
      ["edge.shop.svc.cluster.local", "ClientSideLB", "10.96.137.90"],
      ["ext.shop.svc.cluster.local", "Alias", "0.0.0.0"],
      ["noselector.shop.svc.cluster.local", "ClientSideLB", "10.96.23.217"],
      ["reviews.shop.svc.cluster.local", "ClientSideLB", value.services.at(-1)?.defaultAddress],
    ]);
    const endpoints = value.endpoints.get("shop/reviews.shop.svc.cluster.local") ?? [];
    expect(endpoints.map((made) => [made.addresses[0], made.servicePortName, made.port, made.health])).toEqual([
      ["10.10.0.1", "http", 9080, "Healthy"],
      ["10.10.0.1", "grpc-admin", 9090, "Healthy"],
      ["10.10.0.2", "http", 9080, "Unhealthy"],
      ["10.10.0.2", "grpc-admin", 9090, "Unhealthy"],
    ]);
    expect(endpoints[0]).toMatchObject({
      locality: { label: "r1/z1/s1" },
      serviceAccount: "spiffe://cluster.local/ns/shop/sa/sa-reviews",
      tlsMode: "istio",
    });
  });

  it("say in diagnostics which cluster, namespace and resourceVersion an object is of", async () => {
    const { content } = await collectedFrom(capturedServer());
    const [reviews] = content.configs.filter(({ meta }) => meta.kind === "VirtualService");
    expect(reviews?.origin.file).toBe(
      `cluster Kubernetes, namespace shop, resourceVersion ${reviews?.meta.resourceVersion}`,
    );
    expect(reviews?.meta.resourceVersion).toMatch(/^\d+$/);
  });

  it("lose what nobody reads: fields' managers, what kubectl applied, heartbeats, containers' images", async () => {
    const { shard } = await collectedFrom(capturedServer());
    const text = JSON.stringify([...shard.objects.values()]);
    expect(text).not.toContain("managedFields");
    expect(text).not.toContain("last-applied-configuration");
    expect(text).not.toContain("lastHeartbeatTime");
    expect(text).not.toContain("terminationMessagePath");
  });
});

describe("a Kubernetes origin", () => {
  it("streams lists, and lists in pages and then watches where the server cannot", async () => {
    for (const streams of [true, false]) {
      const server = new FakeApiServer();
      server.streams = streams;
      for (let count = 0; count < 7; count += 1) server.put(service(`shop/s${count}`));
      const origin = await held(server, 3);
      expect(origin.keys("Service")).toHaveLength(7);
      expect(requestsFor(server, "services")).toHaveLength(streams ? 0 : 3);
      server.put(service("shop/new"));
      await origin.until((one) => one.keys("Service").includes("Service/shop/new"));
      server.delete("Service", "shop/s1");
      await origin.until((one) => !one.keys("Service").includes("Service/shop/s1"));
      expect(origin.told.filter((line) => line.startsWith("whole Service "))).toEqual(["whole Service 7"]);
      await origin.end();
    }
  });

  it("reads what a real server streams, and what one says that cannot", async () => {
    const events = read("services-watchlist.json").filter((event: object) => !("eof" in event));
    const server = new FakeApiServer();
    server.answers.push(() => undefined);
    const lines = events.map((event: unknown) => `${JSON.stringify(event)}\n`).join("");
    const client = server.client();
    const fetch: typeof client.fetch = async (url, init) =>
      new URL(url).pathname === "/api/v1/services" && url.includes("sendInitialEvents")
        ? new Response(lines)
        : client.fetch(url, init);
    const origin = new HeldOrigin(kubernetesOrigin({ ...client, fetch }, { cluster, pace: hurry }));
    await origin.until((one) => one.isWhole());
    expect(origin.keys("Service")).toContain("Service/shop/reviews");
    await origin.end();
  });

  it("asks for pods after the slices that name them, and not for those that have failed", async () => {
    const server = new FakeApiServer();
    server.put(service("shop/a"));
    server.put(slice("shop/a", ["10.0.0.1=a-1"]));
    server.put(pod("shop/a-1", "10.0.0.1"));
    const origin = await held(server);
    const paths = server.requests.map(({ pathname }) => pathname);
    expect(paths.indexOf("/api/v1/pods")).toBeGreaterThan(paths.indexOf("/apis/discovery.k8s.io/v1/endpointslices"));
    expect(origin.told.indexOf("whole Pod 1")).toBeGreaterThan(origin.told.indexOf("whole EndpointSlice 1"));
    expect(requestsFor(server, "pods", true)[0]?.searchParams.get("fieldSelector")).toBe("status.phase!=Failed");
    await origin.end();
  });

  it("takes a kind that the server does not have for an empty one, and reads it once it is there", async () => {
    const server = new FakeApiServer();
    server.absent.add("VirtualService");
    let clockMs = 0;
    const origin = new HeldOrigin(
      kubernetesOrigin(server.client(), { cluster, pace: hurry, now: () => (clockMs += 1000) }),
    );
    await origin.until((one) => one.isWhole());
    expect(origin.failures.size).toBe(0);
    server.absent.delete("VirtualService");
    const made = object("VirtualService", "shop/v", { spec: { hosts: ["a"] } });
    server.put(made);
    await origin.until((one) => one.keys("VirtualService").length === 1);
    await origin.end();
  });

  it("keeps what it knew of a kind that a server does not know any more, until it knows it again and says otherwise", async () => {
    const server = new FakeApiServer();
    server.put(object("VirtualService", "shop/v", { spec: { hosts: ["a"] } }));
    let clockMs = 0;
    const now = () => {
      clockMs += 1_000;
      return clockMs;
    };
    const pauses: number[] = [];
    const pace = { ...hurry, pause: (ms: number) => hurry.pause(pauses.push(ms), new AbortController().signal) };
    const origin = new HeldOrigin(kubernetesOrigin(server.client(), { cluster, pace, now }));
    await origin.until((one) => one.isWhole());
    server.absent.add("VirtualService");
    server.compact();
    server.disconnect("end");
    await origin.until((one) => one.failures.has("VirtualService"));
    expect(origin.failures.get("VirtualService")).toBe("no longer served by the API server");
    const absences = () => origin.told.filter((line) => line === "absent VirtualService").length;
    await origin.until(() => absences() === 50);
    expect(origin.keys("VirtualService")).toEqual(["VirtualService/shop/v"]);
    // It is looked for after seconds, with a question of its own each time.
    expect(pauses.filter((ms) => ms === 5_000).length).toBeGreaterThanOrEqual(49);
    server.delete("VirtualService", "shop/v");
    server.put(object("VirtualService", "shop/w", { spec: { hosts: ["a"] } }));
    server.absent.delete("VirtualService");
    const before = absences();
    await origin.until((one) => one.keys("VirtualService").join() === "VirtualService/shop/w");
    expect([origin.failures.size, absences() - before]).toEqual([0, expect.toSatisfy((more: number) => more < 3)]);
    await origin.end();
  });

  it("keeps the objects of a kind whose CRD is deleted, which the server deletes one by one, and counts them in the state", async () => {
    const server = new FakeApiServer();
    server.put(service("shop/cart"));
    for (const name of ["shop/v", "shop/w"]) server.put(object("VirtualService", name, { spec: { hosts: ["a"] } }));
    const store = memoryStore();
    const stop = new AbortController();
    const collector = createCollector({ store, source: "cluster", origin: originOf(server), gatherMs: 0, pace: hurry });
    const running = collector.run(stop.signal);
    const until = async (holds: () => Promise<boolean>) => {
      for (let turn = 0; turn < 20_000 && !(await holds()); turn += 1)
        await new Promise((resolve) => setImmediate(resolve));
      expect(await holds()).toBe(true);
    };
    const keys = async () => [...((await createCollectedReader(store, "cluster")())?.objects.keys() ?? [])].sort();
    const filled = ["Service/shop/cart", "VirtualService/shop/v", "VirtualService/shop/w"];
    await until(async () => (await keys()).join() === filled.join());
    server.leaving.add("VirtualService");
    server.delete("VirtualService", "shop/v");
    server.delete("VirtualService", "shop/w");
    const failure =
      "VirtualService: no longer served by the API server; its 2 objects are still served as last read, until the kind is there again, or a start with --allow-empty";
    await until(async () => collector.state().failure === failure);
    server.absent.add("VirtualService");
    server.disconnect("end");
    server.put(service("shop/pay"));
    await until(async () => (await keys()).includes("Service/shop/pay"));
    expect(await keys()).toEqual(["Service/shop/cart", "Service/shop/pay", ...filled.slice(1)]);
    // Installed again, the kind says what there is.
    server.absent.delete("VirtualService");
    server.leaving.delete("VirtualService");
    await until(async () => (await keys()).join() === "Service/shop/cart,Service/shop/pay");
    await until(async () => collector.state().failure === "");
    stop.abort();
    await running;
  });

  it("takes a single deletion as what it is while the kind is served", async () => {
    const server = new FakeApiServer();
    for (const name of ["shop/v", "shop/w"]) server.put(object("VirtualService", name, { spec: { hosts: ["a"] } }));
    const origin = await held(server);
    server.delete("VirtualService", "shop/v");
    await origin.until((one) => one.keys("VirtualService").join() === "VirtualService/shop/w");
    expect(origin.told).toContain("gone VirtualService/shop/v");
    expect(origin.failures.size).toBe(0);
    await origin.end();
  });

  it.each([true, false])(
    "reads everything anew after a 410, deletes nothing in between (streaming: %s)",
    async (streams) => {
      const server = new FakeApiServer();
      server.streams = streams;
      server.put(pod("shop/a", "10.0.0.1"));
      server.put(pod("shop/b", "10.0.0.2"));
      const origin = await held(server);
      server.disconnect("end");
      server.delete("Pod", "shop/a");
      server.put(pod("shop/c", "10.0.0.3"));
      server.compact();
      await origin.until((one) => one.keys("Pod").join() === "Pod/shop/b,Pod/shop/c");
      expect(origin.told.filter((line) => line.startsWith("gone Pod"))).toEqual([]);
      expect(origin.told.filter((line) => line.startsWith("whole Pod"))).toEqual(["whole Pod 2", "whole Pod 2"]);
      await origin.end();
    },
  );

  it("takes a plain 410 and one within the stream alike, as real servers say them", async () => {
    const { lines } = read("status-watch-gone.json");
    const text = lines.map((line: unknown) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
    const gone = [() => new Response(`${text}\n`), () => jsonResponse({ reason: "Expired", code: 410 }, 410)];
    for (const answer of gone) {
      const server = new FakeApiServer();
      server.put(pod("shop/a", "10.0.0.1"));
      const origin = await held(server);
      const before = origin.told.filter((line) => line === "whole Pod 1").length;
      let isAnswered = false;
      for (let count = 0; count < 100; count += 1) {
        server.answers.push((url) => {
          const isResumed = url.searchParams.has("watch") && url.searchParams.has("resourceVersion");
          if (isAnswered || url.pathname !== "/api/v1/pods" || !isResumed) return undefined;
          isAnswered = true;
          return answer();
        });
      }
      server.disconnect("end");
      await origin.until((one) => one.told.filter((line) => line === "whole Pod 1").length > before);
      expect(origin.failures.size).toBe(0);
      await origin.end();
    }
  });

  it.each([true, false])(
    "reads anew what a server says that was restored from an older backup (streaming: %s)",
    async (streams) => {
      const server = new FakeApiServer();
      server.streams = streams;
      server.put(service("shop/a"));
      const backup = server.backup();
      server.put(service("shop/b"));
      const origin = await held(server);
      expect(origin.keys("Service")).toEqual(["Service/shop/a", "Service/shop/b"]);
      if (!streams) {
        const isResumed = ({ searchParams }: URL) => searchParams.has("resourceVersion");
        await origin.until(() => requestsFor(server, "services", true).some(isResumed));
      }
      server.restore(backup);
      server.disconnect("end");
      await origin.until((one) => one.keys("Service").join() === "Service/shop/a");
      // What comes now has lower versions than what was heard before.
      server.put(service("shop/c"));
      await origin.until((one) => one.keys("Service").length === 2);
      expect(origin.keys("Service")).toEqual(["Service/shop/a", "Service/shop/c"]);
      await origin.end();
    },
  );

  it("is told from others by the uid of kube-system", async () => {
    const server = new FakeApiServer();
    server.put(object("Namespace", "/kube-system", {}, { uid: "8d1f" }));
    const origin = originOf(server);
    const following = new HeldOrigin(origin);
    expect(origin.identity?.()).toBeUndefined();
    await following.until((one) => one.isWhole());
    expect(origin.identity?.()).toBe("cluster 8d1f");
    await following.end();
  });

  it("begins a list anew when its continuation expired", async () => {
    const server = new FakeApiServer();
    server.streams = false;
    for (let count = 0; count < 3; count += 1) server.put(service(`shop/s${count}`));
    let isExpired = false;
    for (let count = 0; count < 200; count += 1) {
      server.answers.push((url) => {
        if (isExpired || !url.searchParams.has("continue")) return undefined;
        isExpired = true;
        return jsonResponse(read("status-continue-expired.json"), 410);
      });
    }
    const origin = await held(server, 2);
    expect([isExpired, origin.keys("Service").length]).toEqual([true, 3]);
    await origin.end();
  });

  it("waits as long as a busy server says, and lists without a version", async () => {
    const server = new FakeApiServer();
    server.streams = false;
    const waits: number[] = [];
    const pace = {
      ...hurry,
      pause: async (ms: number, signal: AbortSignal) => {
        waits.push(ms);
        await hurry.pause(ms, signal);
      },
    };
    let isTold = false;
    for (let count = 0; count < 100; count += 1) {
      server.answers.push((url) => {
        if (isTold || url.pathname !== "/api/v1/services" || url.searchParams.has("watch")) return undefined;
        isTold = true;
        return jsonResponse(read("status-future-rv.json"), 504);
      });
    }
    const origin = new HeldOrigin(kubernetesOrigin(server.client(), { cluster, pace }));
    await origin.until((one) => one.isWhole());
    expect(waits).toContain(1000);
    expect(requestsFor(server, "services").every(({ searchParams }) => !searchParams.has("resourceVersion"))).toBe(
      true,
    );
    await origin.end();
  });

  it("has patience with a server that is not ready, and then says so", async () => {
    const server = new FakeApiServer();
    let busy = 2;
    for (let count = 0; count < 5000; count += 1) {
      server.answers.push((url) => {
        if (url.pathname !== "/api/v1/services" || busy-- <= 0) return undefined;
        return jsonResponse({ code: 429, reason: "TooManyRequests", message: "storage is (re)initializing" }, 429);
      });
    }
    const origin = await held(server);
    expect(origin.told.filter((line) => line.startsWith("failed"))).toEqual([]);
    await origin.end();
    busy = 20;
    const other = new HeldOrigin(originOf(server));
    await other.until((one) => one.failures.get("Service")?.includes("429 TooManyRequests") === true);
    await other.until((one) => one.isWhole());
    await other.end();
  });

  it("is not whole while one kind is forbidden, and keeps what it knew when that happens later", async () => {
    const server = new FakeApiServer();
    server.put(pod("shop/a", "10.0.0.1"));
    let isForbidden = true;
    for (let count = 0; count < 5000; count += 1) {
      server.answers.push((url) =>
        isForbidden && url.pathname === "/api/v1/pods"
          ? jsonResponse({ kind: "Status", reason: "Forbidden", message: "no", code: 403 }, 403)
          : undefined,
      );
    }
    const origin = new HeldOrigin(originOf(server));
    await origin.until((one) => one.failures.has("Pod"));
    expect([origin.isWhole(), origin.failures.get("Pod")]).toEqual([
      false,
      expect.stringContaining("403 Forbidden: no"),
    ]);
    isForbidden = false;
    await origin.until((one) => one.isWhole());
    isForbidden = true;
    server.disconnect("error");
    await origin.until((one) => one.failures.has("Pod"));
    expect(origin.keys("Pod")).toEqual(["Pod/shop/a"]);
    isForbidden = false;
    await origin.until((one) => !one.failures.has("Pod"));
    expect(origin.told).toContain("followed Pod");
    await origin.end();
  });

  it("asks once more with a new token after a 401", async () => {
    const server = new FakeApiServer();
    const asked: boolean[] = [];
    const client = {
      ...server.client(),
      token: async (isRefused: boolean) => {
        asked.push(isRefused);
        return "token";
      },
    };
    server.answers.push(() => jsonResponse({ reason: "Unauthorized" }, 401));
    const origin = new HeldOrigin(kubernetesOrigin(client, { cluster, pace: hurry }));
    await origin.until((one) => one.isWhole());
    expect([asked.filter((one) => one).length, origin.failures.size]).toEqual([1, 0]);
    await origin.end();
  });

  it("takes nothing but a list for one", async () => {
    const server = new FakeApiServer();
    server.streams = false;
    let isWrong = true;
    for (let count = 0; count < 2000; count += 1) {
      server.answers.push((url) =>
        isWrong && url.pathname === "/api/v1/services" && !url.searchParams.has("watch")
          ? jsonResponse({ hello: "from a proxy" })
          : undefined,
      );
    }
    const origin = new HeldOrigin(originOf(server));
    await origin.until((one) => one.failures.has("Service"));
    expect(origin.parts.has("Service")).toBe(false);
    isWrong = false;
    await origin.until((one) => one.isWhole());
    await origin.end();
  });

  it("reads only the namespaces that discoverySelectors select, as they are labelled now", async () => {
    const server = new FakeApiServer();
    const mesh = "discoverySelectors:\n- matchLabels: { mesh: shop }\n";
    const settings = (text: string) => object("ConfigMap", "istio-system/istio", { data: { mesh: text, other: "x" } });
    server.put(settings(mesh));
    const label = (name: string, labels: object) => object("Namespace", `/${name}`, {}, { labels });
    server.put(label("shop", { mesh: "shop" }));
    server.put(label("dark", {}));
    server.put(service("shop/a"));
    server.put(service("dark/b"));
    const origin = await held(server);
    expect(origin.keys("Service")).toEqual(["Service/shop/a"]);
    expect(JSON.stringify([...(origin.parts.get("ConfigMap")?.values() ?? [])])).not.toContain("other");
    server.put(label("dark", { mesh: "shop" }));
    await origin.until((one) => one.keys("Service").length === 2);
    server.put(label("shop", {}));
    await origin.until((one) => one.keys("Service").join() === "Service/dark/b");
    // Settings that say nothing, or are gone, leave the last valid ones in force.
    for (const lose of [() => server.put(settings("")), () => server.delete("ConfigMap", "istio-system/istio")]) {
      lose();
      server.put(service(`dark/${server.keys("Service").length}`));
      await origin.until((one) => one.keys("Service").length === server.keys("Service").length - 1);
      expect(origin.keys("Service")).not.toContain("Service/shop/a");
    }
    server.put(settings("{}"));
    await origin.until((one) => one.keys("Service").length === server.keys("Service").length);
    await origin.end();
  });

  it("asks for no secret unless it is told to, and then for metadata only", async () => {
    const server = new FakeApiServer();
    const accepted: string[] = [];
    const client = server.client();
    const fetch: typeof client.fetch = async (url, init) => {
      if (url.includes("/secrets")) accepted.push(new Headers(init.headers).get("accept") ?? "");
      return client.fetch(url, init);
    };
    const silent = new HeldOrigin(kubernetesOrigin({ ...client, fetch }, { cluster, pace: hurry }));
    await silent.until((one) => one.isWhole());
    await silent.end();
    expect(accepted).toEqual([]);
    server.put(object("Secret", "shop/cert", { type: "kubernetes.io/tls", data: { "tls.key": "c2VjcmV0" } }));
    const asking = new HeldOrigin(kubernetesOrigin({ ...client, fetch }, { cluster, pace: hurry, secretNames: true }));
    await asking.until((one) => one.isWhole());
    expect(accepted[0]).toContain("as=PartialObjectMetadata");
    const [secret] = asking.parts.get("Secret")?.values() ?? [];
    expect(JSON.stringify(secret)).not.toContain("c2VjcmV0");
    expect(secret?.key).toBe("Secret/shop/cert");
    await asking.end();
  });

  it("comes to what the server holds, after any history", async () => {
    const kinds = fc.constantFrom("Pod", "Service", "Node");
    const names = fc.constantFrom("a", "b", "ü");
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ put: kinds, name: names, text: fc.string({ unit: "grapheme" }) }) },
      { weight: 2, arbitrary: fc.record({ remove: kinds, name: names }) },
      { weight: 2, arbitrary: fc.constantFrom("compact", "end", "error", "bookmark", "breathe" as const) },
    );
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(step, { maxLength: 20 }), async (streams, steps) => {
        const server = new FakeApiServer();
        server.streams = streams;
        const origin = await held(server, 2);
        for (const taken of steps) {
          if (taken === "compact") server.compact();
          else if (taken === "bookmark") server.bookmark();
          else if (taken === "end" || taken === "error") server.disconnect(taken);
          else if (typeof taken === "string") await new Promise((resolve) => setImmediate(resolve));
          else if ("put" in taken)
            server.put(object(taken.put, `shop/${taken.name}`, { spec: {} }, { labels: { text: taken.text } }));
          else server.delete(taken.remove, `shop/${taken.name}`);
        }
        // One more change says when everything before it has arrived: a kind's events come in their order.
        for (const kind of ["Pod", "Service", "Node"]) server.put(object(kind, "shop/last"));
        await origin.until((one) =>
          ["Pod/shop/last", "Service/shop/last", "Node//last"].every((key) =>
            [...one.parts.values()].some((part) => part.has(key)),
          ),
        );
        const fresh = await held(server);
        for (const kind of ["Pod", "Service", "Node"]) expect(origin.parts.get(kind)).toEqual(fresh.parts.get(kind));
        await origin.end();
        await fresh.end();
      }),
      { numRuns: propertyRuns(40) },
    );
  });
});

describe("jsonLines", () => {
  it("reads the same values wherever the bytes are cut", async () => {
    const values = [{ a: "ü€😀" }, [1, 2], "x"];
    const bytes = new TextEncoder().encode(values.map((value) => JSON.stringify(value)).join("\n"));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: bytes.length })), async (places) => {
        const cuts = [0, ...places.sort((a, b) => a - b), bytes.length];
        const chunks = cuts.slice(1).map((cut, at) => bytes.slice(cuts[at], cut));
        const seen: unknown[] = [];
        for await (const value of jsonLines(ReadableStream.from(chunks))) seen.push(value);
        expect(seen).toEqual(values);
      }),
      { numRuns: propertyRuns(50) },
    );
  });
});
