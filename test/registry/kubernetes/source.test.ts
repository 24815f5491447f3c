import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegistry } from "../../../lib/registry/build-registry.ts";
import { jsonLines } from "../../../lib/registry/kubernetes/api/json-lines.ts";
import { registryResources } from "../../../lib/registry/kubernetes/api/resource.ts";
import { kubernetesSource } from "../../../lib/registry/kubernetes/api/source.ts";
import { slicesOfEndpoints } from "../../../lib/registry/kubernetes/endpoints.ts";
import { type KubernetesObject, objectKey } from "../../../lib/registry/kubernetes/object.ts";
import type { SourceEvent } from "../../../lib/registry/source.ts";
import { object, pod, service, slice, world } from "../objects.ts";
import { FakeApiServer, hurry, jsonResponse } from "./fake-api-server.ts";

const captured = new URL("../../captured/kubernetes/", import.meta.url);

function read(file: string) {
  return JSON.parse(readFileSync(new URL(file, captured), "utf8"));
}

const files: Readonly<Record<string, string>> = {
  "/api/v1/services": "services-list.json",
  "/apis/discovery.k8s.io/v1/endpointslices": "endpointslices-list.json",
  "/api/v1/pods": "pods-list.json",
  "/api/v1/nodes": "nodes-list.json",
  "/api/v1/namespaces": "namespaces-list.json",
  "/api/v1/endpoints": "endpoints-list.json",
};

function capturedSource(more: Partial<Parameters<typeof kubernetesSource>[1]> = {}) {
  const fetch = async (input: unknown) => jsonResponse(read(files[new URL(String(input)).pathname] ?? ""));
  return kubernetesSource({ baseUrl: "http://api.test", fetch }, { name: "captured", pace: hurry, ...more });
}

function source(server: FakeApiServer, pageSize = 500) {
  return kubernetesSource(server.client(), { name: "fake", pace: hurry, pageSize });
}

/** The objects by kind and key, in no order. */
function byKey(objects: readonly KubernetesObject[]) {
  return new Map(objects.map((item) => [`${item.kind} ${objectKey(item)}`, item]));
}

/** Follows a watch until its content is the one expected. */
async function until(
  events: AsyncIterable<SourceEvent<readonly KubernetesObject[]>>,
  done: (event: SourceEvent<readonly KubernetesObject[]>) => boolean,
): Promise<void> {
  for await (const event of events) if (done(event)) return;
}

const hasPods =
  (...names: readonly string[]) =>
  (event: SourceEvent<readonly KubernetesObject[]>): boolean =>
    "content" in event &&
    event.content
      .filter(({ kind }) => kind === "Pod")
      .map(({ metadata }) => metadata.name)
      .sort()
      .join() === names.join();

describe("the captured answers of an API server", () => {
  it("become the services and endpoints that the reference sheet says", async () => {
    const { content, version } = await capturedSource().snapshot();
    expect(version).toBe("274.274.274.274.274");
    const { value } = buildRegistry(world(content));
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

  it("include Endpoints objects for who has no slices", async () => {
    const resources = [...registryResources, { path: "/api/v1/endpoints", apiVersion: "v1", kind: "Endpoints" }];
    const { content } = await capturedSource({ resources }).snapshot();
    const slices = content.filter(({ kind }) => kind === "Endpoints").flatMap(slicesOfEndpoints);
    const { value } = buildRegistry(world([...content, ...slices]));
    expect(value.endpoints.get("shop/noselector.shop.svc.cluster.local")).toMatchObject([
      { addresses: ["10.20.0.9"], port: 3306, servicePortName: "", workloadName: "" },
    ]);
  });

  it("of a watch add, change and remove", async () => {
    const events = read("services-watch.json").filter((event: object) => !("eof" in event));
    const lines = events.map((event: unknown) => `${JSON.stringify(event)}\n`).join("");
    const empty = (kind: string) => jsonResponse({ kind, metadata: { resourceVersion: "1" }, items: [] });
    let watched = false;
    const fetch = async (input: unknown, init?: RequestInit) => {
      const url = new URL(String(input));
      if (!url.searchParams.has("watch")) return empty("List");
      if (watched) await new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", reject));
      watched = true;
      return new Response(lines);
    };
    const resources = registryResources.slice(0, 1);
    const seen: string[][] = [];
    const stop = new AbortController();
    const watch = kubernetesSource({ baseUrl: "http://api.test", fetch }, { name: "x", pace: hurry, resources });
    for await (const event of watch.watch(stop.signal)) {
      if ("content" in event) seen.push(event.content.map(({ metadata }) => metadata.name));
      if (watched) break;
    }
    stop.abort();
    // All events came in one piece, so only what they come to is seen.
    expect(seen.at(-1)).toEqual([]);
  });
});

describe("a snapshot", () => {
  it("takes all pages, and asks with a token", async () => {
    const server = new FakeApiServer();
    for (let count = 0; count < 7; count += 1) server.put(service(`shop/s${count}`));
    const { content } = await source(server, 3).snapshot();
    expect(content.filter(({ kind }) => kind === "Service")).toHaveLength(7);
    expect(server.requests.filter(({ pathname }) => pathname === "/api/v1/services")).toHaveLength(3);
    expect(server.requests.find(({ pathname }) => pathname === "/api/v1/pods")?.search).toContain("status.phase");
  });

  it("begins a list anew when its continuation expired", async () => {
    const server = new FakeApiServer();
    for (let count = 0; count < 3; count += 1) server.put(service(`shop/s${count}`));
    server.answers.push(
      () => undefined,
      () => jsonResponse(read("status-continue-expired.json"), 410),
    );
    expect((await source(server, 2).snapshot()).content).toHaveLength(3);
  });

  it("gives up after a few attempts", async () => {
    const server = new FakeApiServer();
    for (let count = 0; count < 9; count += 1) server.answers.push(() => jsonResponse({}, 503));
    await expect(source(server).snapshot()).rejects.toThrow("/api/v1/services with 503");
  });

  it("tries again when the server asks for patience", async () => {
    const server = new FakeApiServer();
    server.answers.push(() => jsonResponse(read("status-future-rv.json"), 504));
    expect((await source(server).snapshot()).content).toEqual([]);
  });

  it("takes a kind that the server does not have for an empty one", async () => {
    const server = new FakeApiServer();
    server.absent.add("EndpointSlice");
    server.put(service("shop/a"));
    expect((await source(server).snapshot()).content).toHaveLength(1);
  });

  it("fails as a whole when one kind is forbidden", async () => {
    const server = new FakeApiServer();
    const forbidden = { kind: "Status", reason: "Forbidden", message: "no", code: 403 };
    server.answers.push(
      () => undefined,
      () => undefined,
      () => jsonResponse(forbidden, 403),
    );
    await expect(source(server).snapshot()).rejects.toThrow("403 Forbidden: no");
  });

  it("asks once more with a new token after a 401", async () => {
    const server = new FakeApiServer();
    server.answers.push(() => jsonResponse({ reason: "Unauthorized" }, 401));
    expect((await source(server).snapshot()).content).toEqual([]);
  });

  it("lists pods once more when a slice names one that is missing", async () => {
    const server = new FakeApiServer();
    server.put(service("shop/a"));
    server.put(slice("shop/a", ["10.0.0.1=a-1"]));
    await source(server).snapshot();
    expect(server.requests.filter(({ pathname }) => pathname === "/api/v1/pods")).toHaveLength(2);
  });
});

describe("a watch", () => {
  it("keeps unchanged objects the same objects, also over a new list", async () => {
    const server = new FakeApiServer();
    server.put(pod("shop/a", "10.0.0.1"));
    server.put(pod("shop/b", "10.0.0.2"));
    const stop = new AbortController();
    const events = source(server).watch(stop.signal)[Symbol.asyncIterator]();
    const first = (await events.next()).value;
    server.put(pod("shop/b", "10.0.0.3"));
    server.compact();
    server.disconnect("end");
    let last = first;
    while (
      !("content" in last) ||
      last.content[1]?.metadata.resourceVersion === first.content[1]?.metadata.resourceVersion
    ) {
      last = (await events.next()).value;
    }
    stop.abort();
    expect(last.content.map(({ metadata }: KubernetesObject) => metadata.name)).toEqual(["a", "b"]);
    expect(last.content[0]).toBe(first.content[0]);
  });

  it("tells that it cannot read, and goes on when it can", async () => {
    const server = new FakeApiServer();
    server.put(pod("shop/a", "10.0.0.1"));
    const stop = new AbortController();
    const seen: string[] = [];
    await until(source(server).watch(stop.signal), (event) => {
      if ("failure" in event) seen.push("failure");
      else if (seen.at(-1) !== "content") seen.push("content");
      if (seen.length === 1) {
        for (let count = 0; count < 5; count += 1)
          server.answers.push(() => jsonResponse({ reason: "Forbidden" }, 403));
        server.disconnect("error");
      }
      return seen.length > 1 && seen.at(-1) === "content";
    });
    stop.abort();
    expect(seen[0]).toBe("content");
    expect(seen).toContain("failure");
  });

  it("ends when its consumer leaves", async () => {
    const server = new FakeApiServer();
    server.put(pod("shop/a", "10.0.0.1"));
    await until(source(server).watch(new AbortController().signal), hasPods("a"));
  });

  it("comes to what a fresh snapshot gives, after any history", async () => {
    const names = fc.constantFrom("a", "b", "ü");
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          put: fc.constantFrom("Pod", "Service", "Node"),
          name: names,
          text: fc.string({ unit: "grapheme" }),
        }),
      },
      { weight: 2, arbitrary: fc.record({ remove: fc.constantFrom("Pod", "Service", "Node"), name: names }) },
      { weight: 2, arbitrary: fc.constantFrom("compact", "end", "error", "bookmark", "breathe" as const) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const server = new FakeApiServer();
        const stop = new AbortController();
        const watch = source(server, 2).watch(stop.signal)[Symbol.asyncIterator]();
        let event = (await watch.next()).value;
        for (const taken of steps) {
          if (taken === "compact") server.compact();
          else if (taken === "bookmark") server.bookmark();
          else if (taken === "end" || taken === "error") server.disconnect(taken);
          else if (typeof taken === "string") await new Promise((resolve) => setImmediate(resolve));
          else if ("put" in taken) server.put(object(taken.put, `shop/${taken.name}`, { spec: { text: taken.text } }));
          else server.delete(taken.remove, `shop/${taken.name}`);
        }
        // One more change says when everything before it has arrived: a kind's events come in their order.
        for (const kind of ["Pod", "Service", "Node"]) server.put(object(kind, "shop/last"));
        const complete = () =>
          "content" in event &&
          event.content.filter(({ metadata }: KubernetesObject) => metadata.name === "last").length === 3;
        while (!complete()) event = (await watch.next()).value;
        stop.abort();
        expect(byKey(event.content)).toEqual(byKey((await source(server).snapshot()).content));
      }),
      { numRuns: 60 },
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
      { numRuns: 50 },
    );
  });
});
