import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createCollector } from "../../../lib/collect/collector.ts";
import { createCollectedReader } from "../../../lib/compile/collected/collected-shard.ts";
import type { ApiClient } from "../../../lib/registry/kubernetes/api/client.ts";
import { kubernetesOrigin } from "../../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { object, pod, service, slice } from "../objects.ts";
import { FakeApiServer, hurry, jsonResponse } from "./fake-api-server.ts";
import { HeldOrigin } from "./held-origin.ts";

const cluster = "Kubernetes";
const expired = readFileSync(
  new URL("../../captured/kubernetes/status-continue-expired.json", import.meta.url),
  "utf8",
);

/** The same server, with some answers about services in place of its own. */
function instead(server: FakeApiServer, answer: (url: URL) => Response | undefined): ApiClient {
  const client = server.client();
  return {
    ...client,
    fetch: async (text, init) => {
      const url = new URL(text);
      return (url.pathname === "/api/v1/services" ? answer(url) : undefined) ?? client.fetch(text, init);
    },
  };
}

const status = (code: number, reason: string) => jsonResponse({ kind: "Status", code, reason, message: "no" }, code);

/** Where watches of services were told to begin. */
const begun = (server: FakeApiServer): readonly (string | null)[] =>
  server.requests
    .filter(({ pathname, searchParams }) => pathname === "/api/v1/services" && searchParams.has("watch"))
    .map(({ searchParams }) => searchParams.get("resourceVersion"));

describe("a watch that ends without a word", () => {
  it.each([
    ["the last change", (server: FakeApiServer) => server.put(service("shop/b"))],
    [
      "a bookmark, where others changed since",
      (server: FakeApiServer) => {
        server.put(service("shop/b"));
        server.put(pod("shop/p", "10.0.0.1"));
        server.bookmark();
      },
    ],
  ])("is resumed from %s, and nothing is listed again", async (_what, happens) => {
    const server = new FakeApiServer();
    server.put(service("shop/a"));
    const origin = new HeldOrigin(kubernetesOrigin(server.client(), { cluster, pace: hurry }));
    await origin.until((one) => one.isWhole());
    happens(server);
    const { version } = server.backup();
    let turns = 0;
    await origin.until((one) => {
      if (one.keys("Service").includes("Service/shop/b")) turns += 1;
      return turns > 20;
    });
    const before = begun(server).length;
    server.disconnect("end");
    server.delete("Service", "shop/a");
    await origin.until((one) => one.keys("Service").join() === "Service/shop/b");
    expect(begun(server).slice(before)).toEqual([String(version)]);
    expect(origin.told.filter((line) => line.startsWith("whole Service "))).toEqual(["whole Service 1"]);
    expect(origin.failures.size).toBe(0);
    await origin.end();
  });
});

describe("one kind that cannot be read", () => {
  it.each([
    // A token may have been renewed since: 401 is worth a second question.
    { what: "the token is refused", message: "401 Unauthorized", times: 2, answer: () => status(401, "Unauthorized") },
    { what: "the token does not allow it", message: "403 Forbidden", times: 1, answer: () => status(403, "Forbidden") },
    {
      what: "its list expires every time that it goes on",
      message: "410 Expired",
      times: 4,
      answer: ({ searchParams }: URL) =>
        searchParams.has("continue") ? new Response(expired, { status: 410 }) : undefined,
    },
  ])("fails the whole snapshot, and leaves the source as it was: $what", async ({ message, times, answer }) => {
    const server = new FakeApiServer();
    server.streams = false;
    for (const name of ["a", "b", "c"]) server.put(service(`shop/${name}`));
    server.put(slice("shop/a", ["10.0.0.1"]));
    const store = memoryStore();
    const collectedFrom = (client: ApiClient) =>
      createCollector({
        store,
        source: "cluster",
        origin: kubernetesOrigin(client, { cluster, pace: hurry, pageSize: 2 }),
      }).once();
    const held = async () => [...((await createCollectedReader(store, "cluster")())?.objects.keys() ?? [])].sort();
    await collectedFrom(server.client());
    const before = await held();
    expect(before).toHaveLength(4);
    server.delete("EndpointSlice", "shop/a-1");
    server.delete("Service", "shop/a");
    server.put(service("shop/d"));
    let asked = 0;
    const client = instead(server, (url) => {
      const given = answer(url);
      if (given !== undefined) asked += 1;
      return given;
    });
    await expect(collectedFrom(client)).rejects.toThrow(message);
    expect(await held()).toEqual(before);
    expect(asked).toBe(times);
  });
});

describe("kinds that a server does not have", () => {
  it("are named, all of a group as one, until they are there", async () => {
    const server = new FakeApiServer();
    server.absent.add("VirtualService");
    let clockMs = 0;
    const now = () => (clockMs += 1000);
    const origin = new HeldOrigin(kubernetesOrigin(server.client(), { cluster, pace: hurry, now }));
    await origin.until((one) => one.isWhole());
    const absent = () => origin.origin.absent?.() ?? [];
    expect(origin.failures.size).toBe(0);
    expect(absent()).toContain("*.networking.istio.io");
    expect(absent()).not.toContain("Service");
    server.absent.delete("VirtualService");
    server.put(object("VirtualService", "shop/v", { spec: { hosts: ["a"] } }));
    await origin.until((one) => one.keys("VirtualService").length === 1);
    expect(absent()).toContain("ServiceEntry");
    expect(absent()).not.toContain("VirtualService");
    expect(absent()).not.toContain("*.networking.istio.io");
    await origin.end();
  });
});
