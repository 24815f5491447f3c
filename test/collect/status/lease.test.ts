import { describe, expect, it } from "vitest";
import { fieldsOf } from "../../../lib/base/untyped.ts";
import { createLease } from "../../../lib/collect/status/lease.ts";
import { FakeObjects } from "./fake-objects.ts";

const path = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/writer";

/** Two that want one lease, each with a clock of its own that a test moves. */
function twoHolders() {
  const server = new FakeObjects();
  let nowMs = 0;
  const holder = (name: string, aheadMs: number) =>
    createLease({
      client: server.client,
      namespace: "ns",
      name: "writer",
      holder: name,
      durationMs: 15_000,
      now: () => nowMs + aheadMs,
      today: () => Date.UTC(2026, 0, 1) + nowMs,
    });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  // Clocks that go on, and agree about nothing else.
  return { server, a: holder("a", 0), b: holder("b", 1_000_000), pass };
}
const record = (server: FakeObjects) => fieldsOf(server.objects.get(path)).spec;

describe("a lease", () => {
  it("is one holder's, as long as that one renews it", async () => {
    const { server, a, b, pass } = twoHolders();
    expect(await a.take()).toBe(true);
    for (let turn = 0; turn < 10; turn += 1) {
      expect(await b.take()).toBe(false);
      pass(4_000);
      expect(await a.take()).toBe(true);
    }
    expect([a.isHeld(), b.isHeld()]).toEqual([true, false]);
    expect(record(server)).toMatchObject({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:40.000000Z",
      leaseTransitions: 0,
    });
  });

  it("ends for its holder before it begins for anybody else", async () => {
    const { server, a, b, pass } = twoHolders();
    await a.take();
    await b.take();
    pass(9_999);
    expect(a.isHeld()).toBe(true);
    pass(1);
    expect(a.isHeld()).toBe(false);
    pass(5_000);
    expect(await b.take()).toBe(false);
    pass(1);
    expect(await b.take()).toBe(true);
    expect(record(server)).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    expect(await a.take()).toBe(false);
  });

  it("goes to one of two who find it free at once", async () => {
    const { server, a, b } = twoHolders();
    const taken = await Promise.all([a.take(), b.take()]);
    expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
    expect(server.objects.size).toBe(1);
  });

  it("is anybody's as soon as it was given back, and is not given back by whoever has lost it", async () => {
    const { server, a, b, pass } = twoHolders();
    await a.take();
    await a.release();
    expect(await b.take()).toBe(true);
    await a.release();
    expect(record(server)).toMatchObject({ holderIdentity: "b" });
    pass(1);
    expect(b.isHeld()).toBe(true);
  });

  it("is not held by whoever cannot ask the server, and says why", async () => {
    const { server, a, pass } = twoHolders();
    await a.take();
    server.failing = 503;
    await expect(a.take()).rejects.toThrow("503");
    expect([a.isHeld(), a.failure()]).toEqual([true, expect.stringContaining("503")]);
    pass(10_000);
    expect(a.isHeld()).toBe(false);
  });
});
