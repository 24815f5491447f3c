import { describe, expect, it } from "vitest";
import { jsonLines } from "../../../lib/registry/kubernetes/api/json-lines.ts";
import { kubernetesOrigin } from "../../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { service } from "../objects.ts";
import { FakeApiServer, hurry, jsonResponse } from "./fake-api-server.ts";
import { HeldOrigin } from "./held-origin.ts";

/** Answers instead of the server's own about services; undefined for its own. */
type Instead = (url: URL) => Response | undefined;

/** An origin over a server whose answers about services are as a test says, and how long it paused. */
function against(server: FakeApiServer, instead: Instead, about = "/api/v1/services") {
  const waits: number[] = [];
  const pace = {
    pause: async (ms: number, signal: AbortSignal) => {
      waits.push(ms);
      await hurry.pause(ms, signal);
    },
    backOff: (failures: number) => failures,
  };
  const client = server.client();
  const fetch: typeof client.fetch = async (url, init) => {
    const asked = new URL(url);
    return (asked.pathname === about ? instead(asked) : undefined) ?? client.fetch(url, init);
  };
  const origin = new HeldOrigin(kubernetesOrigin({ ...client, fetch }, { cluster: "Kubernetes", pace, now: () => 0 }));
  return { origin, waits };
}

const busy = (seconds: string) =>
  new Response('{"message":"busy"}', { status: 429, headers: { "retry-after": seconds } });

describe("a server that asks for patience", () => {
  it.each(["86400", "3000000", "Infinity"])("is asked again after half a minute when it says %s s", async (seconds) => {
    for (const streams of [true, false]) {
      const server = new FakeApiServer();
      server.streams = streams;
      server.put(service("shop/a"));
      let isBusy = true;
      const { origin, waits } = against(server, (url) =>
        isBusy && url.searchParams.has("watch") === streams ? busy(seconds) : undefined,
      );
      await origin.until((one) => one.failures.get("Service")?.includes("429") === true);
      expect(waits).toContain(30_000);
      // As long as it takes to look again for a kind that is not there.
      expect(Math.max(...waits)).toBe(60_000);
      isBusy = false;
      await origin.until((one) => one.isWhole());
      expect(origin.failures.size).toBe(0);
      await origin.end();
    }
  });
});

describe("a server that ends every connection at once", () => {
  const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
  const annotations = { "k8s.io/initial-events-end": "true" };
  const bookmark = event("BOOKMARK", { metadata: { resourceVersion: "5", annotations } });
  const expired = event("ERROR", { code: 410, reason: "Expired" });

  it.each([
    ["a bookmark", () => bookmark],
    [
      "a list, and then that it is too old",
      (url: URL) => (url.searchParams.has("sendInitialEvents") ? bookmark : expired),
    ],
  ])("is asked after pauses that grow: %s", async (_what, text) => {
    let asked = 0;
    const { origin, waits } = against(new FakeApiServer(), (url) => {
      // Not where it asks whether the server has come as far.
      if (!url.searchParams.has("watch")) return undefined;
      asked += 1;
      return new Response(text(url));
    });
    await origin.until(() => asked >= 6);
    expect(waits).toEqual(expect.arrayContaining([1, 2, 3, 4, 5]));
    await origin.end();
  });

  it("has a list that never ends read to a bound", async () => {
    const server = new FakeApiServer();
    server.streams = false;
    const metadata = { resourceVersion: "5", continue: "more" };
    const { origin } = against(server, (url) =>
      url.searchParams.has("watch") ? undefined : jsonResponse({ kind: "ServiceList", metadata, items: [] }),
    );
    await origin.until((one) => one.failures.get("Service")?.includes("more than 2000 pages") === true);
    await origin.end();
  });
});

/** A body without end, and whether somebody has stopped reading it. */
function endlessBody() {
  const seen = { bytes: 0, isCancelled: false };
  const chunk = new Uint8Array(2 ** 20).fill(0x20);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      seen.bytes += chunk.byteLength;
      // A test that fails has to end.
      if (seen.bytes > 200 * 2 ** 20) controller.close();
      else controller.enqueue(chunk);
    },
    cancel() {
      seen.isCancelled = true;
    },
  });
  return { body, seen };
}

describe("a server that loses its thread", () => {
  it("is asked anew when a list that streams stops in the middle, and says so meanwhile", async () => {
    const server = new FakeApiServer();
    for (const name of ["a", "b"]) server.put(service(`shop/${name}`));
    let isHung = true;
    const client = server.client();
    const fetch: typeof client.fetch = async (url, init) => {
      const { pathname, searchParams } = new URL(url);
      if (!isHung || pathname !== "/api/v1/services" || !searchParams.has("watch")) return client.fetch(url, init);
      const metadata = { name: "a", namespace: "shop", resourceVersion: "2" };
      const line = new TextEncoder().encode(`${JSON.stringify({ type: "ADDED", object: { metadata } })}\n`);
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(line);
            init.signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
          },
        }),
      );
    };
    const options = { cluster: "Kubernetes", pace: hurry, quietMs: 50 };
    const origin = new HeldOrigin(kubernetesOrigin({ ...client, fetch }, options));
    const deadline = Date.now() + 10_000;
    while (!origin.failures.has("Service") && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(origin.failures.get("Service")).toBe("the list of /api/v1/services has stopped in the middle");
    expect(origin.parts.has("Service")).toBe(false);
    isHung = false;
    while (!origin.parts.has("Service") && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(origin.keys("Service")).toEqual(["Service/shop/a", "Service/shop/b"]);
    await origin.end();
  });

  it("loses nothing by lines that are no JSON: what came before them counts, and the rest comes again", async () => {
    const server = new FakeApiServer();
    server.put(service("shop/a"));
    let rubbish = 0;
    const { origin } = against(server, (url) => {
      if (!url.searchParams.has("watch") || url.searchParams.has("sendInitialEvents") || rubbish > 2) return undefined;
      rubbish += 1;
      return new Response(`\u0000<html>${"x".repeat(rubbish * 1000)}</html>\n`);
    });
    await origin.until((one) => one.isWhole());
    server.disconnect("end");
    server.put(service("shop/b"));
    await origin.until((one) => one.keys("Service").length === 2 && one.failures.size === 0);
    expect([rubbish, origin.told.includes("failed Service")]).toEqual([3, true]);
    expect(origin.told.filter((line) => line.startsWith("whole Service "))).toEqual(["whole Service 1"]);
    await origin.end();
  });
});

describe("a server that answers without end", () => {
  it.each([
    ["a list", false, 200],
    ["a failure", false, 403],
    ["a line of a watch", true, 200],
  ])("is read no further than a bound: %s", async (_what, streams, status) => {
    const server = new FakeApiServer();
    server.streams = streams;
    const { body, seen } = endlessBody();
    let isFirst = true;
    const { origin } = against(server, (url) => {
      if (!isFirst || url.searchParams.has("watch") !== streams) return undefined;
      isFirst = false;
      return new Response(body, { status });
    });
    await origin.until((one) => one.told.includes("failed Service"));
    expect(seen.isCancelled).toBe(true);
    expect(seen.bytes).toBeLessThan(70 * 2 ** 20);
    await origin.end();
  });

  it.each([true, false])("is a failure when a list goes on and on (streaming: %s)", async (streams) => {
    const server = new FakeApiServer();
    server.streams = streams;
    for (let count = 0; count < 20; count += 1) server.put(service(`shop/s${count}`));
    const options = { cluster: "Kubernetes", pace: hurry, pageSize: 3, listSize: 1000 };
    const origin = new HeldOrigin(kubernetesOrigin(server.client(), options));
    await origin.until((one) => one.failures.get("Service")?.includes("longer than 1000 characters") === true);
    expect(origin.parts.has("Service")).toBe(false);
    await origin.end();
  });

  it("takes a long line in small pieces in time that grows with its length", async () => {
    const piece = new TextEncoder().encode("x".repeat(64));
    const text = 4 * 2 ** 20;
    async function* pieces() {
      yield new TextEncoder().encode('"');
      for (let sent = 0; sent < text; sent += piece.length) yield piece;
      yield new TextEncoder().encode('"\n');
    }
    const read: unknown[] = [];
    for await (const value of jsonLines(ReadableStream.from(pieces()))) read.push(value);
    expect(read).toEqual(["x".repeat(text)]);
  });
});

describe("an answer that does not say what there is", () => {
  const list = (items: unknown) => ({
    kind: "ServiceList",
    apiVersion: "v1",
    metadata: { resourceVersion: "5" },
    items,
  });
  const named = { metadata: { name: "b", namespace: "shop", resourceVersion: "4" } };

  it.each([
    ["no items", list(undefined)],
    ["items that are no list", list({ 0: named })],
    ["an item without a name", list([named, { metadata: {} }])],
    ["an item whose name is no text", list([named, { metadata: { name: 7 } }])],
  ])("is a failure, and never a list: %s", async (_what, answer) => {
    const server = new FakeApiServer();
    server.streams = false;
    server.put(service("shop/a"));
    let isWrong = true;
    const { origin } = against(server, (url) =>
      isWrong && !url.searchParams.has("watch") ? jsonResponse(answer) : undefined,
    );
    await origin.until((one) => one.failures.has("Service"));
    expect(origin.parts.has("Service")).toBe(false);
    isWrong = false;
    await origin.until((one) => one.keys("Service").join() === "Service/shop/a");
    await origin.end();
  });

  it("is a failure as an event of a watch, too", async () => {
    const server = new FakeApiServer();
    const { origin } = against(server, () => new Response('{"type":"ADDED","object":{"metadata":{"name":7}}}\n'));
    await origin.until((one) => one.failures.get("Service")?.includes("no Service") === true);
    expect(origin.parts.has("Service")).toBe(false);
    await origin.end();
  });

  it.each([
    ["nothing", {}],
    ["no resources", { kind: "APIResourceList" }],
    ["resources that are no list", { kind: "APIResourceList", resources: { services: {} } }],
    ["a resource without a name", { kind: "APIResourceList", resources: [{ name: "pods" }, {}] }],
    ["something of another kind", { kind: "Status", resources: [] }],
  ])("is a failure where kinds are asked for: %s", async (_what, answer) => {
    const server = new FakeApiServer();
    server.put(service("shop/a"));
    let isWrong = true;
    const { origin } = against(server, () => (isWrong ? jsonResponse(answer) : undefined), "/api/v1");
    await origin.until((one) => one.failures.has("Namespace"));
    expect(origin.parts.has("Namespace")).toBe(false);
    isWrong = false;
    await origin.until((one) => one.keys("Service").join() === "Service/shop/a");
    await origin.end();
  });
});
