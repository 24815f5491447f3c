import { describe, expect, it } from "vitest";
import { consulOrigin } from "../../../lib/registry/consul/origin.ts";
import { readStoredService } from "../../../lib/registry/consul/stored-service.ts";
import type { OriginObject, OriginSink } from "../../../lib/registry/origin/origin.ts";
import { unpacked } from "../../collect/fake-origin.ts";
import { hurry, jsonResponse } from "../kubernetes/fake-api-server.ts";
import { FakeConsul } from "./fake-consul.ts";

/** What an origin tells, one line each. */
function recorder(stopAfter: number) {
  const lines: string[] = [];
  const stop = new AbortController();
  const last = new Map<string, readonly OriginObject[]>();
  const tell = (line: string) => {
    lines.push(line);
    if (lines.length === stopAfter) stop.abort();
  };
  const sink: OriginSink = {
    whole(part, objects) {
      last.set(part, unpacked(objects));
      tell(`whole ${part}: ${objects.map(({ key }) => key).join(" ")}`);
      return true;
    },
    changed(part) {
      tell(`changed ${part}`);
      return true;
    },
    absent: () => false,
    failed: (part, reason) => tell(`failed ${part}: ${reason}`),
    followed: (part) => tell(`followed ${part}`),
  };
  return { lines, sink, signal: stop.signal, last };
}

const origin = (fetch: typeof globalThis.fetch, datacenters: readonly string[] = []) =>
  consulOrigin({ fetch, baseUrl: "http://consul.test" }, datacenters, { health: "any", pace: hurry });

describe("Consul as an origin", () => {
  it("tells all services at once, one object for each, which reads back as what Consul said", async () => {
    const consul = new FakeConsul();
    consul.set("b", [{ id: "b1", passing: true }]);
    consul.set("a", [{ id: "a1", passing: true }]);
    const told = recorder(1);
    await origin(consul.fetch).follow(told.sink, told.signal);
    expect(told.lines).toEqual(["whole own: dc1/a dc1/b"]);
    const [first] = told.last.get("own") ?? [];
    expect(readStoredService(first?.object, "consul").instances).toMatchObject([
      { serviceId: "a1", serviceName: "a", datacenter: "dc1", nodeAddress: "10.0.0.1", port: 80 },
    ]);
  });

  it("says that it is followed again when nothing changed over a failure", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    const told = recorder(3);
    const following = origin(consul.fetch).follow(
      {
        ...told.sink,
        whole(part, objects) {
          told.sink.whole(part, objects);
          consul.answers.push(() => new Response("No cluster leader", { status: 500 }));
          consul.wake();
          return true;
        },
      },
      told.signal,
    );
    await following;
    expect(told.lines).toEqual([
      "whole own: dc1/a",
      "failed own: Consul answered /v1/catalog/services with 500: No cluster leader",
      "followed own",
    ]);
  });

  it.each([
    { what: "the trust domain of its mesh", answer: { TrustDomain: "1f2e.consul", Roots: [] }, status: 200 },
    { what: "its address, where it has no mesh", answer: "Connect must be enabled", status: 500 },
  ])("is told from others by $what, and its datacentre", async ({ answer, status }) => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    const fetch: typeof globalThis.fetch = async (input, init) =>
      new URL(String(input)).pathname === "/v1/connect/ca/roots"
        ? jsonResponse(answer, status)
        : consul.fetch(input, init);
    const told = recorder(1);
    const asked = origin(fetch);
    expect(asked.identity?.()).toBeUndefined();
    await asked.follow(told.sink, told.signal);
    expect(asked.identity?.()).toBe(status === 200 ? "cluster 1f2e.consul/dc1" : "address http://consul.test/dc1");
  });

  it("follows each datacentre by itself: one that cannot be reached keeps none of the others", async () => {
    const consul = new FakeConsul();
    consul.set("a", [{ id: "a1", passing: true }]);
    const asked: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { pathname, searchParams } = new URL(String(input));
      const dc = searchParams.get("dc");
      if (pathname.startsWith("/v1/catalog/")) asked.push(dc);
      return dc === "dc2" ? new Response("No path to datacenter", { status: 500 }) : consul.fetch(input, init);
    };
    const told = recorder(4);
    await origin(fetch, ["dc1", "dc2"]).follow(told.sink, told.signal);
    expect(told.lines).toContain("whole dc1: dc1/a");
    expect(told.lines).toContain("failed dc2: Consul answered /v1/catalog/services with 500: No path to datacenter");
    expect(new Set(asked)).toEqual(new Set(["dc1", "dc2"]));
  });
});
