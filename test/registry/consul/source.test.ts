import { describe, expect, it } from "vitest";
import type { ConsulInstance } from "../../../lib/registry/consul/catalog.ts";
import { consulSource } from "../../../lib/registry/consul/source.ts";
import type { SourceEvent } from "../../../lib/registry/source.ts";
import { hurry, jsonResponse } from "../kubernetes/fake-api-server.ts";

interface Entry {
  readonly id: string;
  readonly passing: boolean;
}

/** A Consul agent in memory, with blocking queries: one index for the catalogue, one for each service's health. */
class FakeConsul {
  readonly #services = new Map<string, Entry[]>();
  #waiting: (() => void)[] = [];
  index = 10;
  healthIndex = 10;
  /** Answers instead of its own, each once. */
  readonly answers: (() => Response)[] = [];
  readonly requests: URL[] = [];

  set(name: string, entries: readonly Entry[]): void {
    const before = this.#services.get(name) ?? [];
    if (entries.length === 0) this.#services.delete(name);
    else this.#services.set(name, [...entries]);
    this.healthIndex += 1;
    if (before.map(({ id }) => id).join() !== entries.map(({ id }) => id).join()) this.index += 1;
    this.wake();
  }

  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    this.requests.push(url);
    const health = url.pathname.startsWith("/v1/health/");
    const asked = Number(url.searchParams.get("index") ?? 0);
    while (asked > 0 && asked === (health ? this.healthIndex : this.index) && this.answers.length === 0) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push(resolve);
        init?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    }
    const prepared = this.answers.shift()?.();
    if (prepared !== undefined) return prepared;
    const response = jsonResponse(this.#body(url.pathname, health));
    response.headers.set("x-consul-index", String(health ? this.healthIndex : this.index));
    response.headers.set("x-consul-knownleader", "true");
    return response;
  };

  #body(path: string, health: boolean): unknown {
    if (path === "/v1/catalog/services")
      return Object.fromEntries([...this.#services.keys()].map((name) => [name, []]));
    const name = path.split("/").at(-1) ?? "";
    return (this.#services.get(name) ?? []).map(({ id, passing }) =>
      health
        ? {
            Node: { Node: "n", Address: "10.0.0.1" },
            Service: { ID: id, Service: name, Port: 80 },
            Checks: [{ Status: passing ? "passing" : "critical" }],
          }
        : { Node: "n", Address: "10.0.0.1", ServiceID: id, ServiceName: name, ServicePort: 80 },
    );
  }
}

function source(consul: FakeConsul, health: "any" | "passing" = "any") {
  return consulSource({ fetch: consul.fetch, baseUrl: "http://consul.test" }, { health, pace: hurry });
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
  ])("fails on %s", async (_what, answer, message) => {
    const consul = new FakeConsul();
    consul.answers.push(answer);
    await expect(source(consul).snapshot()).rejects.toThrow(message);
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
