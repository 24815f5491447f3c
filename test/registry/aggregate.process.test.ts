import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/config/diagnostic.ts";
import { createAggregate } from "../../lib/registry/aggregate.ts";
import { createRegistryBuilder } from "../../lib/registry/build-registry.ts";
import { consulContent } from "../../lib/registry/consul/convert.ts";
import { readStoredService, storedServices } from "../../lib/registry/consul/stored-service.ts";
import type { KubernetesObject } from "../../lib/registry/kubernetes/object.ts";
import { createRegistry } from "../../lib/registry/registry.ts";
import type { RegistryContent } from "../../lib/registry/registry-content.ts";
import type { Source, SourceEvent } from "../../lib/registry/source.ts";
import { pod, service, slice, world } from "./objects.ts";

/** A source that is told what happens. */
class FakeSource<T> implements Source<T> {
  #events: SourceEvent<T>[] = [];
  #wake: () => void = () => {};
  current: T | undefined;

  constructor(content?: T) {
    this.current = content;
  }

  say(event: SourceEvent<T>): void {
    this.#events.push(event);
    this.#wake();
  }

  async snapshot() {
    if (this.current === undefined) throw new PortolanError("unreachable");
    return { content: this.current, version: "" };
  }

  async *watch(signal: AbortSignal): AsyncGenerator<SourceEvent<T>> {
    signal.addEventListener("abort", () => this.#wake());
    while (!signal.aborted) {
      const event = this.#events.shift();
      if (event !== undefined) yield event;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

function cluster(id: string, source: Source<readonly KubernetesObject[]>) {
  const build = createRegistryBuilder();
  return createRegistry({
    provider: "Kubernetes",
    clusterId: id,
    source,
    stateOf: (objects) => build(world([], [], { clusters: [{ id, objects }] })).value,
  });
}

function consul(source: Source<RegistryContent>) {
  const build = createRegistryBuilder();
  return createRegistry({
    provider: "Consul",
    clusterId: "",
    source,
    stateOf: (content) => build(world([], [], { clusters: [], others: [content] })).value,
  });
}

const catalogue = consulContent(
  storedServices([
    {
      node: "n",
      nodeId: "",
      nodeAddress: "10.7.0.1",
      datacenter: "dc1",
      nodeMeta: {},
      serviceId: "db",
      serviceName: "db",
      serviceAddress: "",
      port: 5432,
      tags: ["app|db"],
      serviceMeta: {},
      passing: true,
    },
  ]).map(({ object }) => readStoredService(object, "dc1")),
  { trustDomain: "cluster.local", release: "1.1" },
).value;

const cart = (clusterIP: string) => service("shop/cart", { clusterIP });
const one = [
  cart("10.0.0.1"),
  pod("shop/cart-1", "10.1.0.1", { app: "cart" }),
  slice("shop/cart", ["10.1.0.1=cart-1"]),
];
const two = [
  cart("10.8.0.1"),
  pod("shop/cart-2", "10.2.0.1", { app: "cart", at: "two" }),
  slice("shop/cart", ["10.2.0.1=cart-2"]),
];

async function all() {
  const members = [
    consul(new FakeSource(catalogue)),
    cluster("one", new FakeSource(one)),
    cluster("two", new FakeSource(two)),
  ];
  for (const member of members) await member.refresh();
  return createAggregate(members);
}

const proxy = { id: "cart-2.shop", namespace: "shop", addresses: ["10.2.0.1"], clusterId: "two", labels: {} };

describe("the aggregate", () => {
  it("asks clusters before all others, in the order given", async () => {
    expect((await all()).members.map(({ provider, clusterId }) => `${provider}/${clusterId}`)).toEqual([
      "Kubernetes/one",
      "Kubernetes/two",
      "Consul/",
    ]);
  });

  it("merges equal hosts of clusters and leaves those of other registries beside them", async () => {
    const aggregate = await all();
    const services = aggregate.services();
    expect(services.map(({ hostname }) => hostname)).toEqual(["cart.shop.svc.cluster.local", "db.service.consul"]);
    expect([...(services[0]?.clusterVips ?? [])]).toEqual([
      ["one", ["10.0.0.1"]],
      ["two", ["10.8.0.1"]],
    ]);
    expect(aggregate.services()).toBe(services);
    expect(aggregate.service("cart.shop.svc.cluster.local")).toEqual(services[0]);
    expect(aggregate.service("db.service.consul")?.attributes.provider).toBe("Consul");
    expect(aggregate.service("nobody")).toBeUndefined();
  });

  it("has the instances of all members", async () => {
    const aggregate = await all();
    const found = aggregate.service("cart.shop.svc.cluster.local");
    if (found === undefined) throw new Error("no service");
    const instances = aggregate.instancesByPort(found, 80, []);
    expect(instances.map(({ endpoint }) => endpoint.addresses[0])).toEqual(["10.1.0.1", "10.2.0.1"]);
  });

  it("asks the cluster that a proxy says it is in", async () => {
    const aggregate = await all();
    expect(aggregate.proxyWorkloadLabels(proxy)).toEqual([{ app: "cart", at: "two" }]);
    expect(aggregate.proxyWorkloadLabels({ ...proxy, clusterId: "one" })).toEqual([]);
    expect(aggregate.proxyServiceInstances(proxy).map(({ endpoint }) => endpoint.workloadName)).toEqual(["cart-2"]);
  });

  it("keeps the last good answers of a member that fails, and says so", async () => {
    const source = new FakeSource(two);
    const failing = cluster("two", source);
    const aggregate = createAggregate([cluster("one", new FakeSource<typeof one>()), failing]);
    expect(aggregate.health().map(({ code }) => code)).toEqual(["registry-unread", "registry-unread"]);
    await failing.refresh();
    source.current = undefined;
    await expect(failing.refresh()).rejects.toThrow("unreachable");
    expect(aggregate.services()).toHaveLength(1);
    expect(aggregate.health().map(({ code, message }) => [code, message.includes("unreachable")])).toEqual([
      ["registry-unread", false],
      ["registry-stale", true],
    ]);
    source.current = two;
    await failing.refresh();
    expect(aggregate.health()).toHaveLength(1);
  });

  it("follows the others while one cannot be read", async () => {
    const sources = [new FakeSource<readonly KubernetesObject[]>(), new FakeSource<readonly KubernetesObject[]>()];
    const [first, second] = sources;
    const aggregate = createAggregate(sources.map((source, at) => cluster(at === 0 ? "one" : "two", source)));
    const stop = new AbortController();
    const running = aggregate.run(stop.signal);
    const vips = () => [...(aggregate.service("cart.shop.svc.cluster.local")?.clusterVips ?? [])];
    second?.say({ content: two, version: "1" });
    second?.say({ failure: "unreachable" });
    await expect.poll(() => aggregate.health().map(({ code }) => code)).toContain("registry-stale");
    first?.say({ content: one, version: "1" });
    first?.say({ content: [cart("10.0.0.2"), ...one.slice(1)], version: "2" });
    await expect.poll(vips).toEqual([
      ["one", ["10.0.0.2"]],
      ["two", ["10.8.0.1"]],
    ]);
    expect(aggregate.health().map(({ code, origin }) => [code, origin.file])).toEqual([
      ["registry-stale", "Kubernetes/two"],
    ]);
    stop.abort();
    await running;
  });

  it("tells handlers what came, changed and went, when it already answers so, and marks failures while it runs", async () => {
    const source = new FakeSource<readonly KubernetesObject[]>();
    const aggregate = createAggregate([cluster("one", source)]);
    const told: string[] = [];
    let heard: () => void = () => {};
    aggregate.appendServiceHandler(({ hostname, defaultAddress }, event) => {
      told.push(`${event} ${hostname.split(".")[0]} ${defaultAddress} of ${aggregate.services().length}`);
      heard();
    });
    aggregate.appendInstanceHandler(({ endpoint }, event) => told.push(`${event} ${endpoint.addresses[0]}`));
    const stop = new AbortController();
    const running = aggregate.run(stop.signal);
    const hear = async (event: SourceEvent<readonly KubernetesObject[]>) => {
      const wait = new Promise<void>((resolve) => (heard = resolve));
      source.say(event);
      await wait;
    };
    await hear({ content: one, version: "1" });
    source.say({ failure: "gone away" });
    await hear({ content: [cart("10.0.0.2"), ...one.slice(1)], version: "2" });
    await hear({ content: [], version: "3" });
    stop.abort();
    await running;
    expect(told).toEqual([
      "add cart 10.0.0.1 of 1",
      "add 10.1.0.1",
      "update cart 10.0.0.2 of 1",
      "delete cart 10.0.0.2 of 0",
      "delete 10.1.0.1",
    ]);
  });
});
