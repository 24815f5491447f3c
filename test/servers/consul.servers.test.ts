import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf, textOf } from "../../lib/base/untyped.ts";
import { consulOrigin } from "../../lib/registry/consul/origin.ts";
import type { ConsulSourceOptions } from "../../lib/registry/consul/source.ts";
import { readStoredService } from "../../lib/registry/consul/stored-service.ts";
import type { OriginObject } from "../../lib/registry/origin/origin.ts";
import { unpacked } from "../collect/fake-origin.ts";
import { type ConsulServer, hasConsul, startConsul } from "./consul-server.ts";

/** What an origin holds, and waits until it is as somebody wants it. */
function follow(url: string, options: Partial<ConsulSourceOptions> = {}, token?: string) {
  const stop = new AbortController();
  const failures: string[] = [];
  let wholes = 0;
  let objects: readonly OriginObject[] = [];
  const client = { fetch, baseUrl: url, ...(token === undefined ? {} : { token: async () => token }) };
  const origin = consulOrigin(client, [], { health: "any", settleMs: 1500, ...options });
  const following = origin.follow(
    {
      whole(_part, all) {
        wholes += 1;
        objects = unpacked(all);
        return true;
      },
      changed: () => true,
      absent: () => false,
      failed: (_part, reason) => failures.push(reason),
      followed: () => {},
    },
    stop.signal,
  );
  const held = () =>
    objects
      .map(({ key, object }) => `${key}: ${readStoredService(object, "").instances.map(({ serviceId }) => serviceId)}`)
      .filter((line) => !line.startsWith("dc1/consul:"));
  return {
    held,
    failures,
    wholes: () => wholes,
    async until(want: readonly string[], timeoutMs = 20_000): Promise<number> {
      const start = performance.now();
      while (JSON.stringify(held()) !== JSON.stringify(want) || wholes === 0) {
        if (performance.now() - start > timeoutMs) expect(held()).toEqual(want);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return performance.now() - start;
    },
    async stop() {
      stop.abort();
      await following;
    },
  };
}

const check = (id: string) => ({ CheckID: `check-${id}`, TTL: "10m", Status: "passing" });

describe.skipIf(!hasConsul())("a real Consul", () => {
  let consul: ConsulServer;
  beforeAll(async () => {
    consul = await startConsul();
  }, 90_000);
  afterAll(() => consul.stop());

  it("is followed: services, instances, tags, and what goes", async () => {
    await consul.put("agent/service/register", { Name: "reviews", ID: "r1", Port: 9080, Address: "10.0.0.11" });
    const told = follow(consul.url);
    await told.until(["dc1/reviews: r1"]);
    // The catalogue's own answer is the same with a second instance: it names services, and wakes for instances.
    await consul.put("agent/service/register", { Name: "reviews", ID: "r2", Port: 9080, Address: "10.0.0.12" });
    await told.until(["dc1/reviews: r1,r2"]);
    await consul.put("agent/service/deregister/r1");
    await told.until(["dc1/reviews: r2"]);
    await consul.put("agent/service/deregister/r2");
    await told.until([]);
    expect(told.failures).toEqual([]);
    await told.stop();
  });

  it("is told from others by the trust domain of its mesh, which any token may read", async () => {
    const { TrustDomain } = fieldsOf(await (await fetch(`${consul.url}/v1/connect/ca/roots`)).json());
    const origin = consulOrigin({ fetch, baseUrl: consul.url }, [], { health: "any" });
    const stop = new AbortController();
    const sink = { whole: () => true, changed: () => true, absent: () => false, failed: () => {}, followed: () => {} };
    const following = origin.follow(sink, stop.signal);
    const start = performance.now();
    while (origin.identity?.() === undefined && performance.now() - start < 20_000)
      await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    await following;
    expect(origin.identity?.()).toBe(`cluster ${textOf(TrustDomain)}/dc1`);
  });

  it("wakes for checks where health counts, and not where it does not", async () => {
    const register = (ID: string) =>
      consul.put("agent/service/register", { Name: "checked", ID, Port: 80, Address: "10.0.0.1", Check: check(ID) });
    await register("c1");
    await register("c2");
    const passing = follow(consul.url, { health: "passing" });
    const any = follow(consul.url);
    await passing.until(["dc1/checked: c1,c2"]);
    await any.until(["dc1/checked: c1,c2"]);
    const before = any.wholes();
    await consul.put("agent/check/fail/check-c1");
    await passing.until(["dc1/checked: c2"]);
    await consul.put("agent/check/pass/check-c1");
    await passing.until(["dc1/checked: c1,c2"]);
    expect(any.wholes()).toBe(before);
    await passing.stop();
    await any.stop();
    await consul.put("agent/service/deregister/c1");
    await consul.put("agent/service/deregister/c2");
  });

  it("that has no such datacentre is a failure, and no empty one", async () => {
    const client = { fetch, baseUrl: consul.url };
    const failures: string[] = [];
    const stop = new AbortController();
    const wrong = () => {
      throw new Error("told as a whole");
    };
    await consulOrigin(client, ["nowhere"], { health: "any" }).follow(
      {
        whole: wrong,
        changed: wrong,
        absent: wrong,
        followed: wrong,
        failed(_part, reason) {
          failures.push(reason);
          stop.abort();
        },
      },
      stop.signal,
    );
    expect(failures[0]).toContain("No path to datacenter");
  });

  it("that is killed keeps what it said, and one that has lost everything is believed when it is quiet", async () => {
    const register = () =>
      consul.put("agent/service/register", { Name: "kept", ID: "k1", Port: 80, Address: "10.0.0.1" });
    for (let at = 0; at < 5; at += 1)
      await consul.put(`agent/service/register`, { Name: "kept", ID: `k${at}`, Port: 80 });
    for (let at = 0; at < 5; at += 1) await consul.put(`agent/service/deregister/k${at}`);
    await register();
    const told = follow(consul.url);
    await told.until(["dc1/kept: k1"]);
    const before = told.wholes();
    await consul.kill();
    while (told.failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await consul.restart();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await register();
    await consul.put("agent/service/register", { Name: "new", ID: "n1", Port: 80, Address: "10.0.0.2" });
    await told.until(["dc1/kept: k1", "dc1/new: n1"], 60_000);
    // The restarted one was empty for a while, and nobody was told so.
    expect(told.wholes()).toBe(before + 1);
    await told.stop();
  });
});

describe.skipIf(!hasConsul())("a real Consul with access lists", () => {
  const token = "11111111-2222-4333-8444-555555555555";
  let consul: ConsulServer;
  beforeAll(async () => {
    const acl = { enabled: true, default_policy: "deny", tokens: { initial_management: token, agent: token } };
    consul = await startConsul({ settings: { acl }, token });
    await consul.put("agent/service/register", { Name: "reviews", ID: "r1", Port: 9080, Address: "10.0.0.11" });
  }, 90_000);
  afterAll(() => consul.stop());

  it("is read with a token, and without one is no empty catalogue", async () => {
    const told = follow(consul.url, {}, token);
    await told.until(["dc1/reviews: r1"]);
    await told.stop();
    // A mesh is asked which one it is without any token.
    expect((await fetch(`${consul.url}/v1/connect/ca/roots`)).status).toBe(200);
    const anonymous = follow(consul.url);
    while (anonymous.failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(anonymous.failures[0]).toContain("what the token may not read");
    expect(anonymous.wholes()).toBe(0);
    await anonymous.stop();
  });
});
