import { describe, expect, it } from "vitest";
import type { RouteRule } from "../../lib/config/kinds/legacy/route-rule.ts";
import { compileLegacy } from "../../lib/v1/compile-legacy.ts";
import type { LegacyWorld } from "../../lib/v1/legacy-world.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { answer } from "../v1/oracle/answer.ts";
import { config, legacyConfigs, shop } from "../v1/worlds.ts";
import { type TestFront, testFront } from "./fixtures.ts";

const node = "sidecar~10.20.0.1~frontend-1.shop~shop.svc.cluster.local";
const paths = {
  cds: `/v1/clusters/istio-proxy/${node}`,
  lds: `/v1/listeners/istio-proxy/${node}`,
  rds: `/v1/routes/80/istio-proxy/${node}`,
  sds: "/v1/registration/catalog.shop.svc.cluster.local%7Chttp",
} as const;

async function frontOf(world: LegacyWorld): Promise<TestFront> {
  const made = testFront();
  await publish(made, world);
  return made;
}

const publish = (front: TestFront, world: LegacyWorld): Promise<void> =>
  front.publish({ ...worldOf({}), legacy: compileLegacy(world) });

describe("the v1 API of the front", () => {
  it.each(Object.values(paths))("answers %s as the world itself does", async (path) => {
    const front = await frontOf(shop);
    const response = await front.request(path);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(answer(shop, { method: "GET", path }).body);
  });

  it.each([...Object.values(paths), "/v1/registration", `/v1/az/c/${node}`])(
    "has an entity tag for %s, and nothing more to say to whoever knows it",
    async (path) => {
      const front = await frontOf(shop);
      const etag = (await front.request(path)).headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[0-9a-z]+"$/);
      const again = await front.request(path, { headers: { "if-none-match": `"other", W/${etag}` } });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe("");
    },
  );

  it("answers HEAD like GET, without the body", async () => {
    const front = await frontOf(shop);
    const head = await front.request(paths.cds, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("etag")).toBe((await front.request(paths.cds)).headers.get("etag"));
    expect(await head.text()).toBe("");
  });

  it.each([
    { path: "/v1/clusters/c/%zz", status: 400 },
    { path: "/v1/clusters/", status: 404 },
    { path: "/v1/clusters/c/sidecar~10.0.0.1~x", status: 404 },
    { path: `/v1/routes/abc/c/${node}`, status: 503 },
    { path: `/v1/routes/80/c/${node}/more`, status: 404 },
    { path: "/v1//registration", status: 301 },
    { path: `/v1/registration/${"x".repeat(2_000)}`, status: 200 },
    { path: `/v1/registration/${"x".repeat(100_000)}`, status: 414 },
    { path: "/v1/registration/%00%F0%9F%98%80|%7C", status: 200 },
  ])("gives $status to $path", async ({ path, status }) => {
    const front = await frontOf(shop);
    expect((await front.request(path)).status).toBe(status);
    expect((await front.request(paths.cds)).status).toBe(200);
  });

  it("says so when nothing was published, or nothing of this API", async () => {
    const front = testFront();
    expect((await front.request(paths.cds)).status).toBe(503);
    await front.publish(worldOf({}));
    expect((await front.request(paths.cds)).status).toBe(404);
  });

  it("counts what it answered from the root in force", async () => {
    const front = await frontOf(shop);
    const counted = async () => (await front.request("/cache_stats")).json();
    await front.request(paths.cds);
    await front.request(paths.cds);
    await front.request(`/v1/routes/9999/istio-proxy/${node}`);
    expect(await counted()).toEqual({ cache_stats: { [paths.cds]: { hit: 1, miss: 1 } } });
    expect((await front.request("/cache_stats_delete")).status).toBe(405);
    expect((await front.request("/cache_stats_delete", { method: "POST" })).status).toBe(200);
    expect(await counted()).toEqual({ cache_stats: { [paths.cds]: { hit: 0, miss: 0 } } });
  });
});

/** The members of answers that the Envoy below reads. */
interface Body {
  readonly clusters?: readonly { readonly name: string; readonly service_name?: string; readonly type: string }[];
  readonly hosts?: readonly { readonly ip_address: string }[];
  readonly listeners?: readonly {
    readonly filters: readonly { readonly config: { readonly rds?: { readonly route_config_name: string } } }[];
  }[];
}

/** What an Envoy 1.5 keeps of its polls: CDS, then SDS of its clusters, LDS, then RDS of its listeners, each on a timer of its own. */
function pollingEnvoy(front: TestFront) {
  const state = {
    clusters: new Map<string, string>(),
    hosts: new Map<string, readonly string[]>(),
    routes: new Map<string, unknown>(),
  };
  const get = async (path: string): Promise<Body | undefined> => {
    const response = await front.request(path);
    const body: Body = response.status === 200 ? JSON.parse(await response.text()) : undefined;
    return body;
  };
  return {
    state,
    async pollClusters() {
      const body = await get(paths.cds);
      if (body === undefined) return;
      state.clusters.clear();
      for (const { name, service_name, type } of body.clusters ?? [])
        state.clusters.set(name, type === "sds" ? (service_name ?? "") : "");
    },
    async pollHosts() {
      for (const [name, service] of state.clusters) {
        const body = service === "" ? undefined : await get(`/v1/registration/${service}`);
        if (body !== undefined)
          state.hosts.set(
            name,
            (body.hosts ?? []).map((host) => host.ip_address),
          );
      }
    },
    async pollListeners() {
      const body = await get(paths.lds);
      if (body === undefined) return;
      for (const { filters } of body.listeners ?? []) {
        const name = filters[0]?.config.rds?.route_config_name;
        if (name !== undefined && !state.routes.has(name)) state.routes.set(name, undefined);
      }
    },
    async pollRoutes() {
      for (const name of state.routes.keys()) {
        const body = await get(`/v1/routes/${name}/istio-proxy/${node}`);
        const named: string[] = (JSON.stringify(body).match(/"out\.[^"]*"/g) ?? []).map((text) => JSON.parse(text));
        // `validate_clusters`: a table that names an unknown cluster is refused, and the old one stays.
        if (body !== undefined && named.every((cluster) => state.clusters.has(cluster))) state.routes.set(name, body);
      }
    },
  };
}

describe("an Envoy that polls the v1 API", () => {
  it("follows every change, whatever the order of its timers, and refuses no table for long", async () => {
    const front = await frontOf(shop);
    const envoy = pollingEnvoy(front);
    const polls = [envoy.pollRoutes, envoy.pollListeners, envoy.pollHosts, envoy.pollClusters];
    for (const version of ["v1", "v2"]) {
      const rule: RouteRule = {
        destination: { name: "catalog", namespace: "shop" },
        route: [{ labels: { version }, weight: 100 }],
      };
      const changed = {
        ...shop,
        configs: { ...legacyConfigs, routeRules: [config("RouteRule", "canary", "shop", rule)] },
      };
      await publish(front, changed);
      // Two rounds in the worst order: routes first, clusters last.
      for (const poll of [...polls, ...polls]) await poll();
      const cluster = `out.catalog.shop.svc.cluster.local|http|version=${version}`;
      expect(JSON.stringify(envoy.state.routes.get("80"))).toContain(cluster);
      expect(envoy.state.clusters.has(cluster)).toBe(true);
    }
    const moved = { ...shop, instances: shop.instances.filter(({ service }) => !service.hostname.startsWith("cart")) };
    await publish(front, moved);
    for (const poll of [...polls, ...polls]) await poll();
    expect(envoy.state.hosts.get("out.cart.shop.svc.cluster.local|http")).toEqual([]);
    expect(envoy.state.hosts.get("out.frontend.shop.svc.cluster.local|http-web")).not.toEqual([]);
  });
});
