import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf, listOf } from "../../lib/base/untyped.ts";
import { createCollector } from "../../lib/collect/collector.ts";
import { createLease, type LeaseOptions } from "../../lib/collect/status/lease.ts";
import { createStatusWriter, type StatusWriterOptions } from "../../lib/collect/status/status-writer.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { newestStatuses } from "../../lib/compile/statuses/newest-statuses.ts";
import type { ApiClient } from "../../lib/registry/kubernetes/api/client.ts";
import { kubernetesOrigin } from "../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { eventually } from "../e2e/envoy.ts";
import { type ApiServer, collectorToken, createObject, openApiServer } from "./api-server.ts";
import { startCollect } from "./collect-process.ts";
import { installGatewayApiKinds } from "./custom-resources.ts";
import { manifests } from "./live-shop.ts";
import { hasApiServer } from "./server-binaries.ts";

const api = "/apis/gateway.networking.k8s.io/v1";
const inShop = (plural: string, name = ""): string => `${api}/namespaces/shop/${plural}${name && `/${name}`}`;
const routePath = inShop("httproutes", "cart");

const gateway = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "edge" },
  spec: {
    gatewayClassName: "portolan",
    addresses: [{ type: "Hostname", value: "edge" }],
    listeners: [{ name: "web", port: 80, protocol: "HTTP", hostname: "*.example.com" }],
  },
};
const route = (hostname: string, backend = "cart") => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "HTTPRoute",
  metadata: { name: "cart" },
  spec: {
    parentRefs: [{ name: "edge" }],
    hostnames: [hostname],
    rules: [{ backendRefs: [{ name: backend, port: 80 }] }],
  },
});

type Written = ReturnType<typeof fieldsOf>;
const parentsIn = (object: Written) => listOf(fieldsOf(object.status).parents).map(fieldsOf);
const conditionsIn = (entry: Written | undefined) => listOf(entry?.conditions).map(fieldsOf);
const ours = (object: Written) =>
  parentsIn(object).find(({ controllerName }) => controllerName === "istio.io/gateway-controller");

describe.skipIf(!hasApiServer())("the statuses that are written to a real API server", () => {
  let server: ApiServer;
  /** Time of all writers: conditions tell it in seconds. */
  let today = Date.parse("2026-03-01T10:00:00Z");
  const store = memoryStore();
  const stop = new AbortController();
  let writes: string[] = [];
  let compile: () => Promise<void>;
  let collecting: Promise<void>;
  beforeAll(async () => {
    server = await openApiServer();
    await installGatewayApiKinds(server);
    await server.ask("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
    for (const name of ["edge", "cart"])
      await server.ask("POST", "/api/v1/namespaces/shop/services", {
        metadata: { name },
        spec: { ports: [{ name: "http", port: 80 }] },
      });
    await server.ask("POST", inShop("gateways"), gateway);
    await server.ask("POST", inShop("httproutes"), route("cart.example.com"));
    const recompile = createRecompiler({ store });
    compile = async () => void (await recompile());
    const origin = kubernetesOrigin(server.client, { cluster: "Kubernetes" });
    collecting = createCollector({ store, source: "kubernetes", origin, pushed: compile }).run(stop.signal);
    await statusOf("HTTPRoute.gateway.networking.k8s.io/shop/cart", () => true);
  });
  afterAll(async () => {
    stop.abort();
    await collecting;
    await server.close();
  });

  /** What the newest compile says of an object, as soon as it says what is waited for. */
  const statusOf = (object: string, holds: (generation: number) => boolean) =>
    eventually(
      async () => (await newestStatuses(store))?.statuses?.find((one) => one.object === object),
      (told) => told !== undefined && holds(told.generation),
      60_000,
    );
  const routeTold = (generation: number) =>
    statusOf("HTTPRoute.gateway.networking.k8s.io/shop/cart", (told) => told === generation);

  /** A client that tells every write of a status. */
  const heard = (client: ApiClient, holder: string): ApiClient => ({
    ...client,
    fetch: (url, init) => {
      if (init.method === "PUT" && url.includes("/status?")) writes.push(`${holder} ${new URL(url).pathname}`);
      return client.fetch(url, init);
    },
  });
  const writer = (
    holder: string,
    more: Partial<StatusWriterOptions & LeaseOptions> = {},
  ): ReturnType<typeof createStatusWriter> => {
    const client = heard(more.client ?? server.client, holder);
    const { durationMs = 1_500 } = more;
    const namespace = more.namespace ?? "shop";
    const lease = createLease({ client, namespace, name: "portolan-status", holder, durationMs });
    const read: StatusWriterOptions["read"] = (known) => newestStatuses(store, known);
    return createStatusWriter({ lease, read, pollMs: 50, today: () => today, ...more, client });
  };

  it("are seen by whoever reads the objects, and are written once", async () => {
    await writer("a").once();
    const told = await server.ask("GET", routePath);
    expect(ours(told)).toMatchObject({
      parentRef: { group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" },
      conditions: [
        { type: "Accepted", status: "True", observedGeneration: 1, lastTransitionTime: "2026-03-01T10:00:00Z" },
        { type: "ResolvedRefs", status: "True", reason: "ResolvedRefs" },
      ],
    });
    const { status } = await server.ask("GET", inShop("gateways", "edge"));
    expect(fieldsOf(status)).toMatchObject({
      conditions: [
        { type: "Accepted", status: "True" },
        { type: "Programmed", status: "False", reason: "AddressNotAssigned" },
        { type: "ResolvedRefs", status: "True" },
      ],
      listeners: [{ name: "web", attachedRoutes: 1, supportedKinds: [{ kind: "HTTPRoute" }, { kind: "GRPCRoute" }] }],
    });
    expect(writes.toSorted()).toEqual([`a ${inShop("gateways", "edge")}/status`, `a ${routePath}/status`]);
    writes = [];
    await writer("b").once();
    expect(writes).toEqual([]);
  });

  it("leave what another controller says where it stands, and as it is", async () => {
    const theirs = {
      controllerName: "example.com/other",
      parentRef: { name: "theirs" },
      conditions: [
        { type: "Accepted", status: "True", reason: "Fine", message: "", lastTransitionTime: "2020-01-01T00:00:00Z" },
      ],
    };
    const before = await server.ask("GET", routePath);
    const parents = [theirs, ...parentsIn(before)];
    await server.ask("PUT", `${routePath}/status`, { ...before, status: { parents } });
    await server.ask("PATCH", routePath, { spec: { hostnames: ["other.test"] } }, "application/merge-patch+json");
    await routeTold(2);
    today += 60_000;
    await writer("a").once();
    const after = await server.ask("GET", routePath);
    expect(parentsIn(after)[0]).toMatchObject(theirs);
    expect(parentsIn(after)).toHaveLength(2);
    expect(ours(after)).toMatchObject({
      conditions: [
        { type: "Accepted", status: "False", reason: "NoMatchingListenerHostname", observedGeneration: 2 },
        {},
      ],
    });
  });

  it("tell a new time of a condition only with a new status of it", async () => {
    const [accepted, resolved] = conditionsIn(ours(await server.ask("GET", routePath)));
    expect([accepted?.lastTransitionTime, resolved?.lastTransitionTime]).toEqual([
      "2026-03-01T10:01:00Z",
      "2026-03-01T10:00:00Z",
    ]);
    expect(resolved?.observedGeneration).toBe(2);
  });

  it("are not written to an object that has another spec by now", async () => {
    const read = (await newestStatuses(store)) ?? { root: "", statuses: [] };
    // The compile does not know it yet.
    await server.ask("PATCH", routePath, { spec: { hostnames: ["cart.example.com"] } }, "application/merge-patch+json");
    writes = [];
    await writer("a", { read: async () => read }).once();
    expect(writes.filter((write) => write.includes("httproutes"))).toEqual([]);
    await routeTold(3);
    await writer("a").once();
    expect(conditionsIn(ours(await server.ask("GET", routePath)))[0]).toMatchObject({
      status: "True",
      observedGeneration: 3,
    });
  });

  it("are not written to an object that only has the name of another one that is gone", async () => {
    const read = (await newestStatuses(store)) ?? { root: "", statuses: [] };
    await server.ask("DELETE", routePath);
    const { metadata } = await server.ask("POST", inShop("httproutes"), route("cart.example.com"));
    const stale = (read.statuses ?? []).map((told) => ({ ...told, generation: 1 }));
    writes = [];
    await writer("a", { read: async () => ({ ...read, statuses: stale }) }).once();
    expect(writes).toEqual([]);
    const { uid } = fieldsOf(metadata);
    const isNew = async () =>
      (await newestStatuses(store))?.statuses?.some((told) => told.uid === uid && told.generation === 1) === true;
    await eventually(isNew, (is) => is, 30_000);
    await writer("a").once();
    expect(ours(await server.ask("GET", routePath))).toBeDefined();
  });

  it("are written by one of two, and by the other when that one has died", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    writes = [];
    let isCut = false;
    const dying: ApiClient = {
      ...server.client,
      fetch: (url, init) => (isCut ? Promise.reject(new Error("gone")) : server.client.fetch(url, init)),
    };
    const [one, two] = [writer("one", { client: dying }), writer("two")];
    const running = [one.run(first.signal)];
    await eventually(
      async () => one.state().isHolder,
      (is) => is,
      30_000,
    );
    running.push(two.run(second.signal));
    const hosts = ["a", "b", "c", "d", "e"].map((name) => `${name}.other.test`);
    for (const [at, hostname] of hosts.entries()) {
      await server.ask("PATCH", routePath, { spec: { hostnames: [hostname] } }, "application/merge-patch+json");
      const isTold = (object: Written) => conditionsIn(ours(object))[0]?.observedGeneration === at + 2;
      await eventually(() => server.ask("GET", routePath), isTold, 30_000);
    }
    expect(writes.filter((write) => write.startsWith("two"))).toEqual([]);
    // Nothing is given back: its holder is never heard of again.
    isCut = true;
    await server.ask("PATCH", routePath, { spec: { hostnames: ["cart.example.com"] } }, "application/merge-patch+json");
    const isAccepted = (object: Written) => conditionsIn(ours(object))[0]?.status === "True";
    await eventually(() => server.ask("GET", routePath), isAccepted, 30_000);
    expect([one.state().isHolder, two.state().isHolder]).toEqual([false, true]);
    expect(writes.filter((write) => write.startsWith("two")).length).toBeGreaterThan(0);
    const { spec } = await server.ask("GET", "/apis/coordination.k8s.io/v1/namespaces/shop/leases/portolan-status");
    expect(fieldsOf(spec)).toMatchObject({ holderIdentity: "two" });
    first.abort();
    second.abort();
    await Promise.all(running);
  });

  it("leave the lease to the next one as soon as their writer ends", async () => {
    const beganMs = performance.now();
    await writer("three", { durationMs: 60_000 }).once();
    await writer("four", { durationMs: 60_000 }).once();
    expect(performance.now() - beganMs).toBeLessThan(30_000);
  });

  it("are mended where somebody has taken them away", async () => {
    const before = await server.ask("GET", routePath);
    await server.ask("PUT", `${routePath}/status`, { ...before, status: { parents: [] } });
    const ends = new AbortController();
    const running = writer("five", { againMs: 100 }).run(ends.signal);
    await eventually(
      () => server.ask("GET", routePath),
      (object) => ours(object) !== undefined,
      30_000,
    );
    ends.abort();
    await running;
  });

  it("of an object that the server refuses cost no other one's, and are told of", async () => {
    const troubles: string[] = [];
    const refused: ApiClient = {
      ...server.client,
      fetch: (url, init) =>
        url.includes("/gateways/edge/status")
          ? Promise.resolve(Response.json({ kind: "Status", reason: "Invalid", message: "no" }, { status: 422 }))
          : server.client.fetch(url, init),
    };
    for (const [plural, name] of [
      ["gateways", "edge"],
      ["httproutes", "cart"],
    ] as const) {
      const object = await server.ask("GET", inShop(plural, name));
      const empty = plural === "gateways" ? { conditions: [] } : { parents: [] };
      await server.ask("PUT", `${inShop(plural, name)}/status`, { ...object, status: empty });
    }
    const ends = new AbortController();
    const running = writer("six", { client: refused, troubled: (reason) => troubles.push(reason) }).run(ends.signal);
    await eventually(
      () => server.ask("GET", routePath),
      (object) => ours(object) !== undefined,
      30_000,
    );
    await eventually(
      async () => troubles.join(),
      (text) => text.includes("statuses that are refused: 1; the first: the API server answered"),
      30_000,
    );
    ends.abort();
    await running;
  });

  it("are written by `collect kube --write-status`, which leaves the lease to others when it is stopped", async () => {
    const folder = await mkdtemp(join(tmpdir(), "portolan-status-"));
    const before = await server.ask("GET", routePath);
    await server.ask("PUT", `${routePath}/status`, { ...before, status: { parents: [] } });
    const where = [
      "--kubeconfig",
      server.kubeconfig,
      "--store",
      join(folder, "store"),
      "--lease",
      "shop/of-the-command",
    ];
    const collect = startCollect(["kube", ...where, "--write-status"]);
    await collect.told("status written");
    expect(ours(await server.ask("GET", routePath))).toBeDefined();
    await collect.stop();
    const lease = await server.ask("GET", "/apis/coordination.k8s.io/v1/namespaces/shop/leases/of-the-command");
    expect(fieldsOf(lease.spec)).toMatchObject({ holderIdentity: "", leaseTransitions: 0 });
    expect(collect.events.filter((event) => event.startsWith("status"))).toContain("status lease held");
    await rm(folder, { recursive: true, force: true });
  });

  it("take no more rights than infra/kubernetes/status-writer.yaml grants", async () => {
    for (const manifest of await manifests()) await createObject(server, manifest);
    const token = await collectorToken(server);
    const client = { ...server.client, token: async () => token };
    const before = await server.ask("GET", routePath);
    await server.ask("PUT", `${routePath}/status`, { ...before, status: { parents: [] } });
    await writer("seven", { client, namespace: "portolan" }).once();
    const after = await server.ask("GET", routePath);
    expect(ours(after)).toBeDefined();
    const ask = async (method: string, path: string, body: object) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      return (await client.fetch(server.url + path, { method, headers, body: JSON.stringify(body) })).status;
    };
    expect(await ask("PUT", routePath, after)).toBe(403);
    expect(await ask("PATCH", `${routePath}/status`, {})).toBe(403);
    expect(await ask("POST", inShop("httproutes"), route("x.example.com"))).toBe(403);
    expect(await ask("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x", {})).toBe(403);
  });
});
