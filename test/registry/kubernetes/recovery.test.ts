import { describe, expect, it } from "vitest";
import { createFailureWaits } from "../../../lib/registry/kubernetes/api/failure-waits.ts";
import { kubernetesOrigin } from "../../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { pod, service } from "../objects.ts";
import { FakeApiServer } from "./fake-api-server.ts";
import { HeldOrigin } from "./held-origin.ts";

const forMs = 15_000;

/** Waits after failures, and those of absent kinds, end when the signal says so, or when the test lets one of them go. */
function heldPace() {
  const [held, looks]: [(() => void)[], (() => void)[]] = [[], []];
  return {
    held,
    looks,
    pace: {
      pause: (milliseconds: number, signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          if (signal.aborted) return resolve();
          const list = milliseconds === forMs ? held : looks;
          const end = () => {
            list.splice(list.indexOf(end), 1);
            resolve();
          };
          list.push(end);
          signal.addEventListener("abort", end, { once: true });
        }),
      backOff: () => forMs,
    },
  };
}

describe("an API server that comes back", () => {
  it("is asked for every kind as soon as it answers for one, absent ones too", async () => {
    const server = new FakeApiServer();
    server.put(service("shop/cart"));
    server.put(pod("shop/cart-1", "10.0.0.1", { app: "cart" }));
    const client = server.client();
    let isCut = false;
    const fetch: typeof client.fetch = (url, init) =>
      isCut ? Promise.reject(new TypeError("connect ECONNREFUSED")) : client.fetch(url, init);
    const { held, looks, pace } = heldPace();
    let nowMs = 0;
    const origin = new HeldOrigin(
      kubernetesOrigin({ ...client, fetch }, { cluster: "Kubernetes", pace, now: () => nowMs }),
    );
    await origin.until((one) => one.isWhole());
    expect(origin.origin.absent?.()).toContain("*.rbac.istio.io");

    isCut = true;
    // Every watch has lasted, and every kind that is absent is looked for again.
    nowMs += 120_000;
    server.disconnect("error");
    for (const look of [...looks]) look();
    // Nothing names a ConfigMap, so that part asks for nothing.
    await origin.until((one) => one.failures.size === one.origin.parts.length - 1 && held.length === one.failures.size);
    isCut = false;
    // One wait is over; all others still had their quarter of a minute to go.
    held[0]?.();
    await origin.until((one) => one.failures.size === 0);
    expect(held).toEqual([]);
    await origin.end();
  });
});

describe("the waits of a server's collections", () => {
  const waits = () => {
    const { held, pace } = heldPace();
    return { held, waits: createFailureWaits(pace) };
  };
  const { signal } = new AbortController();

  it("end when a collection that has failed is answered, and not by one that was well all the time", async () => {
    const { held, waits: one } = waits();
    one.failed("a");
    one.failed("b");
    const waiting = one.pause(forMs, signal, true);
    one.answered("c");
    expect(held).toHaveLength(1);
    one.answered("a");
    expect(await waiting).toBe(true);
  });

  it("are waited to their end by a collection that was sent out in vain", async () => {
    const { held, waits: one } = waits();
    one.failed("a");
    const waiting = one.pause(forMs, signal, false);
    one.answered("a");
    expect(held).toHaveLength(1);
    held[0]?.();
    expect(await waiting).toBe(false);
  });
});
