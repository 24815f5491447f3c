import { expect, it, vi } from "vitest";
import { createCollector } from "../../lib/collect/collector.ts";
import { createCollectedReader } from "../../lib/compile/collected/collected-shard.ts";
import { createCollectedLoader } from "../../lib/compile/collected/load-collected.ts";
import { readShardState } from "../../lib/compile/collected/shard-state.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { buildRegistry } from "../../lib/registry/build-registry.ts";
import { kubernetesOrigin } from "../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import type { Pace } from "../../lib/registry/origin/retry.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { FakeApiServer } from "../registry/kubernetes/fake-api-server.ts";
import { pod, service, slice, world } from "../registry/objects.ts";

const brief: Pace = { pause: () => new Promise((resolve) => setTimeout(resolve, 2)), backOff: () => 0 };

/** A cluster with two instances of one service, of which one may be gone later. */
function shopAt(network: string): FakeApiServer {
  const server = new FakeApiServer();
  server.put(service("shop/cart"));
  for (const at of [1, 2]) server.put(pod(`shop/cart-${at}`, `${network}.${at}`, { app: "cart" }));
  server.put(slice("shop/cart", [`${network}.1=cart-1`]));
  return server;
}

it("a cluster that cannot be reached keeps what it held and is marked stale, while another one is followed", async () => {
  const [here, east] = [shopAt("10.1.0"), shopAt("10.2.0")];
  const store = memoryStore();
  const stop = new AbortController();
  let nowMs = 1_000_000;
  let isCut = false;
  const collected = (source: string, cluster: string, server: FakeApiServer): Promise<void> => {
    const client = server.client();
    const fetch: typeof client.fetch = async (url, init) => {
      if (isCut && server === east) throw new TypeError("no route to host");
      return client.fetch(url, init);
    };
    const origin = kubernetesOrigin({ ...client, fetch }, { cluster, pace: brief });
    return createCollector({ store, source, origin, gatherMs: 0, pace: brief, now: () => nowMs }).run(stop.signal);
  };
  const running = [collected("here", "Kubernetes", here), collected("east", "east", east)];
  const objectsOf = async (source: string) => {
    const shard = await createCollectedReader(store, source)();
    return shard === undefined ? [] : createCollectedLoader()(shard).content.objects;
  };
  const addresses = async () => {
    const clusters = [
      { id: "Kubernetes", objects: await objectsOf("here") },
      { id: "east", objects: await objectsOf("east") },
    ];
    const { endpoints } = buildRegistry(world([], [], { clusters })).value;
    return (endpoints.get("shop/cart.shop.svc.cluster.local") ?? []).map((one) => one.addresses[0]);
  };
  const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 10 });
  const stale = async () =>
    (await createRecompiler({ store, now: () => nowMs })()).diagnostics.filter(({ code }) => code === "registry-stale");

  await eventually(async () => expect(await addresses()).toEqual(["10.1.0.1", "10.2.0.1"]));
  expect(await stale()).toEqual([]);

  isCut = true;
  east.disconnect("error");
  east.put(slice("shop/cart", []));
  await eventually(async () => expect((await readShardState(store, "east"))?.failure).toContain("no route to host"));
  nowMs += 100_000;
  here.put(slice("shop/cart", ["10.1.0.1=cart-1", "10.1.0.2=cart-2"]));
  await eventually(async () => expect(await addresses()).toEqual(["10.1.0.1", "10.1.0.2", "10.2.0.1"]));
  await eventually(async () => expect((await readShardState(store, "here"))?.asOfMs).toBe(nowMs));
  expect(await stale()).toMatchObject([{ severity: "warning", origin: { file: "east" } }]);

  isCut = false;
  await eventually(async () => expect(await addresses()).toEqual(["10.1.0.1", "10.1.0.2"]));
  await eventually(async () => expect(await readShardState(store, "east")).toEqual({ asOfMs: nowMs, failure: "" }));
  expect(await stale()).toEqual([]);
  stop.abort();
  await Promise.all(running);
});
