import { describe, expect, it } from "vitest";
import { createCollector } from "../../lib/collect/collector.ts";
import { createCollectedReader } from "../../lib/compile/collected/collected-shard.ts";
import { kubernetesOrigin } from "../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { FakeApiServer, hurry } from "../registry/kubernetes/fake-api-server.ts";
import { service } from "../registry/objects.ts";

const turns = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (let turn = 0; turn < 20_000; turn += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("never came to hold");
};

describe("what a collector holds", () => {
  it.each([true, false])(
    "has a bound; what was collected stays, and what fits again is read anew (streaming: %s)",
    async (streams) => {
      const server = new FakeApiServer();
      server.streams = streams;
      server.put(service("shop/a"));
      const store = memoryStore();
      const origin = kubernetesOrigin(server.client(), { cluster: "Kubernetes", pace: hurry });
      let failure = "";
      const collector = createCollector({
        store,
        source: "cluster",
        origin,
        mostSize: 10_000,
        gatherMs: 0,
        pace: hurry,
        troubled: (reason) => {
          failure = reason;
        },
      });
      const stop = new AbortController();
      const running = collector.run(stop.signal);
      const stored = async () => [...((await createCollectedReader(store, "cluster")())?.objects.keys() ?? [])].length;
      await turns(async () => (await stored()) === 1);

      // A watch that brings new objects without end.
      for (let count = 0; count < 200; count += 1) server.put(service(`shop/s${count}`));
      await turns(() => failure !== "");
      expect(failure).toMatch(
        /^Service: with Service\/shop\/s\d+ there would be \d+\.\d MiB of objects, and 0\.0 MiB are taken at most; --max-size takes more$/,
      );
      expect(collector.state().failure).toBe(failure);
      for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      const held = await stored();
      expect(held).toBeGreaterThan(0);
      expect(held).toBeLessThan(60);

      for (const key of server.keys("Service").slice(5)) server.delete("Service", key);
      await turns(() => failure === "");
      await turns(async () => (await stored()) === 5);
      stop.abort();
      await running;
    },
  );
});
