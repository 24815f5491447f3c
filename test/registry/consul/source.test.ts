import { describe, expect, it } from "vitest";
import type { ConsulInstance } from "../../../lib/registry/consul/catalog.ts";
import type { ConsulHealth } from "../../../lib/registry/consul/snapshot.ts";
import { consulSource } from "../../../lib/registry/consul/source.ts";
import type { Pace } from "../../../lib/registry/origin/retry.ts";
import type { SourceEvent } from "../../../lib/registry/source.ts";
import { hurry } from "../kubernetes/fake-api-server.ts";
import { FakeConsul } from "./fake-consul.ts";

function source(consul: FakeConsul, health: ConsulHealth = "any") {
  return consulSource({ fetch: consul.fetch, baseUrl: "http://consul.test" }, { health, pace: hurry });
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const ids = (instances: readonly ConsulInstance[]): string => instances.map(({ serviceId }) => serviceId).join();

/** Follows a watch until its content is the one expected. */
async function expectContent(
  events: AsyncIterator<SourceEvent<readonly ConsulInstance[]>>,
  want: string,
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (;;) {
    const { value } = await events.next();
    if ("failure" in value) failures.push(value.failure);
    else if (ids(value.content) === want) return failures;
  }
}

describe("a snapshot of Consul", () => {
  it("has the instances of all services, and never blocks", async () => {
    const consul = new FakeConsul();
    consul.set("b", [{ id: "b1", passing: true }]);
    consul.set("a", [{ id: "a1", passing: false }]);
    expect(ids((await source(consul).snapshot()).content)).toBe("a1,b1");
    expect(consul.requests.some(({ searchParams }) => searchParams.has("index"))).toBe(false);
  });

  it("leaves out what does not pass its checks if asked to", async () => {
    const consul = new FakeConsul();
    consul.set("a", [
      { id: "a1", passing: false },
      { id: "a2", passing: true },
    ]);
    expect(ids((await source(consul, "passing").snapshot()).content)).toBe("a2");
  });

  it.each([
    ["an error", () => new Response("No path to datacenter", { status: 500 }), "No path to datacenter"],
    ["no leader", () => new Response("{}", { headers: { "x-consul-knownleader": "false" } }), "no leader"],
    ["nonsense", () => new Response("[1]"), "could not be read"],
    [
      "what the token may not see",
      () => new Response("{}", { headers: { "x-consul-results-filtered-by-acls": "true" } }),
      "what the token may not read",
    ],
    [
      "a guarded catalogue in which not even Consul is, as who has no token sees it",
      () => new Response("{}", { headers: { "x-consul-default-acl-policy": "deny" } }),
      "what the token may not read",
    ],
  ])("fails on %s", async (_what, answer, message) => {
    const consul = new FakeConsul();
    consul.answers.push(answer);
    await expect(source(consul).snapshot()).rejects.toThrow(message);
  });
});

describe("a Consul that is slow", () => {
  it.each([
    ["begins", () => new Promise<Response>(() => {})],
    ["ends", async () => new Response(new ReadableStream())],
  ])("is given up when no answer %s in time", async (_what, answer) => {
    const fetch = async (_url: string, { signal }: RequestInit) => {
      const aborted = new Promise<never>((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
      const { body } = await Promise.race([answer(), aborted]);
      return new Response(body?.pipeThrough(new TransformStream(), signal ? { signal } : {}));
    };
    const client = { fetch, baseUrl: "http://consul.test", timeoutMs: 30 };
    const message = "Consul did not answer /v1/catalog/services within 1 s";
    await expect(consulSource(client, { health: "any" }).snapshot()).rejects.toThrow(message);
  });
});

describe("a snapshot of many services", () => {
  it("asks for a bounded number at once, and keeps their order", async () => {
    const consul = new FakeConsul();
    const names = Array.from({ length: 100 }, (_, at) => `s${String(at).padStart(3, "0")}`);
    for (const name of names) consul.set(name, [{ id: name, passing: true }]);
    expect(ids((await source(consul).snapshot()).content)).toBe(names.join());
    expect(consul.most).toBe(16);
  });

  it("fails whole when one service of them cannot be read", async () => {
    const consul = new FakeConsul();
    for (let at = 0; at < 20; at += 1) consul.set(`s${at}`, [{ id: `s${at}`, passing: true }]);
    for (let at = 0; at < 8; at += 1) consul.answers.push(() => undefined);
    consul.answers.push(() => new Response("rpc error", { status: 500 }));
    await expect(source(consul).snapshot()).rejects.toThrow("rpc error");
  });

  it("has none of a service that went meanwhile", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    consul.answers.push(() => new Response('{"a":[],"gone":[]}'));
    expect(ids((await source(consul).snapshot()).content)).toBe("a1");
  });
});

describe("a watch of Consul", () => {
  it("follows services that come, change and go, and comes to what a snapshot gives", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    const stop = new AbortController();
    const events = source(consul).watch(stop.signal)[Symbol.asyncIterator]();
    await expectContent(events, "a1");
    consul.set("b", [{ id: "b1", passing: true }]);
    await expectContent(events, "a1,b1");
    consul.set("a", []);
    await expectContent(events, "b1");
    expect(ids((await source(consul).snapshot()).content)).toBe("b1");
    stop.abort();
    consul.wake();
    expect((await events.next()).done).toBe(true);
  });

  it("sees an instance come to a service that was there", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    const stop = new AbortController();
    const events = source(consul).watch(stop.signal)[Symbol.asyncIterator]();
    await expectContent(events, "a1");
    consul.set("a", [
      { id: "a1", passing: true },
      { id: "a2", passing: true },
    ]);
    await expectContent(events, "a1,a2");
    stop.abort();
  });

  it("says nothing when a query ends with the index that it began with", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    const stop = new AbortController();
    const events = source(consul).watch(stop.signal)[Symbol.asyncIterator]();
    await expectContent(events, "a1");
    const next = events.next();
    await turns(5);
    const before = consul.requests.length;
    consul.answers.push(() => new Response('{"a":[]}', { headers: { "x-consul-index": String(consul.index) } }));
    consul.wake();
    await turns(10);
    expect(consul.requests.slice(before).map(({ pathname }) => pathname)).toEqual(["/v1/catalog/services"]);
    stop.abort();
    expect((await next).done).toBe(true);
  });

  it("takes a catalogue that starts over for what it is only when it stays so", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    consul.set("b", [{ id: "b1", passing: true }]);
    const stop = new AbortController();
    const pauses: number[] = [];
    const pace: Pace = {
      ...hurry,
      async pause(milliseconds, signal) {
        if (milliseconds === 7777) {
          pauses.push(milliseconds);
          // What was lost comes back while nobody believes its absence.
          if (pauses.length === 1) consul.set("a", [{ id: "a1", passing: true }]);
          if (pauses.length === 2) consul.set("b", [{ id: "b2", passing: true }]);
        }
        await hurry.pause(milliseconds, signal);
      },
    };
    const client = { fetch: consul.fetch, baseUrl: "http://consul.test" };
    const events = consulSource(client, { health: "any", pace, settleMs: 7777 }).watch(stop.signal);
    const contents: string[] = [];
    for await (const event of events) {
      if ("failure" in event) continue;
      contents.push(ids(event.content));
      if (contents.length === 1) consul.restart();
      else stop.abort();
    }
    expect(contents).toEqual(["a1,b1", "a1,b2"]);
    expect(pauses).toHaveLength(3);
  });

  it("hands out what did not change as the same objects", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    const stop = new AbortController();
    const contents: (readonly ConsulInstance[])[] = [];
    for await (const event of source(consul).watch(stop.signal)) {
      if ("failure" in event) continue;
      contents.push(event.content);
      if (contents.length === 1) consul.set("b", [{ id: "b1", passing: true }]);
      else stop.abort();
    }
    expect(contents.map(ids)).toEqual(["a1", "a1,b1"]);
    expect(contents[1]?.[0]).toBe(contents[0]?.[0]);
  });

  it("tries again when one service cannot be read, though nothing changes", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    consul.answers.push(
      () => undefined,
      () => undefined,
      () => new Response("busy", { status: 500 }),
    );
    const stop = new AbortController();
    const events = source(consul).watch(stop.signal)[Symbol.asyncIterator]();
    expect(await expectContent(events, "a1")).toEqual([expect.stringContaining("busy")]);
    stop.abort();
  });

  it("starts from nothing when the index goes back", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    const stop = new AbortController();
    const events = source(consul).watch(stop.signal)[Symbol.asyncIterator]();
    await expectContent(events, "a1");
    consul.index = 2;
    consul.set("b", [{ id: "b1", passing: true }]);
    await expectContent(events, "a1,b1");
    stop.abort();
  });

  it("tells failures and keeps on trying", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    consul.answers.push(() => new Response("rpc error: no cluster leader", { status: 500 }));
    const stop = new AbortController();
    const events = source(consul).watch(stop.signal)[Symbol.asyncIterator]();
    expect(await expectContent(events, "a1")).toEqual([expect.stringContaining("no cluster leader")]);
    stop.abort();
  });

  it("sees checks change where health counts", async () => {
    const consul = new FakeConsul();
    consul.set("a", [
      { id: "a1", passing: true },
      { id: "a2", passing: true },
    ]);
    const stop = new AbortController();
    const events = source(consul, "passing").watch(stop.signal)[Symbol.asyncIterator]();
    await expectContent(events, "a1,a2");
    consul.set("a", [
      { id: "a1", passing: false },
      { id: "a2", passing: true },
    ]);
    await expectContent(events, "a2");
    stop.abort();
  });
});
