import { describe, expect, it } from "vitest";
import type { Config } from "../../lib/config/config.ts";
import { istioConfigStore } from "../../lib/config-store/istio-config-store.ts";
import { createMemoryStore } from "../../lib/config-store/memory-store.ts";
import { aConfig } from "../config/a-config.ts";

async function over(...configs: readonly Config[]) {
  const store = createMemoryStore();
  for (const config of configs) expect((await store.create(config)).kind).toBe("written");
  return istioConfigStore(store);
}

const names = (configs: readonly Config[]) => configs.map((config) => config.meta.name);
const world = "world.default.svc.cluster.local";
const server = 'servers: [{port: {number: 80, name: h, protocol: HTTP}, hosts: ["*"]}]';

describe("the queries over a store", () => {
  it("find the gateways of a workload by its labels", async () => {
    const store = await over(
      aConfig("Gateway", "all", `{${server}}`),
      aConfig("Gateway", "mine", `{selector: {istio: ingress}, ${server}}`),
      aConfig("Gateway", "other", `{selector: {istio: egress}, ${server}}`),
    );
    expect(names(await store.gateways({ istio: "ingress", app: "x" }))).toEqual(["all", "mine"]);
  });

  it("find virtual services by gateway; mesh is meant where none is named", async () => {
    const route = "http: [{route: [{destination: {host: a}}]}]";
    const store = await over(
      aConfig("VirtualService", "mesh", `{hosts: [a], ${route}}`),
      aConfig("VirtualService", "edge", `{hosts: [a], gateways: [default/g], ${route}}`),
    );
    expect(names(await store.virtualServices(["mesh"]))).toEqual(["mesh"]);
    expect(names(await store.virtualServices(["default/g"]))).toEqual(["edge"]);
  });

  it("find the rule of the most specific host, and the labels of its subsets", async () => {
    const store = await over(
      aConfig("DestinationRule", "any", '{host: "*.svc.cluster.local"}'),
      aConfig("DestinationRule", "near", '{host: "*.default.svc.cluster.local"}'),
      aConfig("DestinationRule", "exact", "{host: world, subsets: [{name: v1, labels: {version: v1}}]}"),
    );
    expect((await store.destinationRule(world))?.meta.name).toBe("exact");
    expect((await store.destinationRule("hello.default.svc.cluster.local"))?.meta.name).toBe("near");
    expect((await store.destinationRule("a.b.svc.cluster.local"))?.meta.name).toBe("any");
    expect(await store.subsetToLabels("v1", world)).toEqual({ version: "v1" });
    expect(await store.subsetToLabels("", world)).toBeUndefined();
  });

  it("order route rules by precedence, then key, and match their source", async () => {
    const store = await over(
      aConfig("RouteRule", "b", "{destination: {name: world}, precedence: 1}"),
      aConfig("RouteRule", "a", "{destination: {name: world}, precedence: 1}"),
      aConfig("RouteRule", "first", "{destination: {name: world}, precedence: 5}"),
      aConfig(
        "RouteRule",
        "from",
        "{destination: {name: world}, match: {source: {name: hello, labels: {version: v1}}}}",
      ),
      aConfig("RouteRule", "elsewhere", "{destination: {name: hello}}"),
    );
    const hello = { hostname: "hello.default.svc.cluster.local", labels: { version: "v1" } };
    expect(names(await store.routeRules([], world))).toEqual(["first", "a", "b"]);
    expect(names(await store.routeRules([hello], world))).toEqual(["first", "a", "b", "from"]);
    expect(names(await store.routeRules([{ ...hello, labels: {} }], world))).toEqual(["first", "a", "b"]);
    expect(names(await store.routeRulesByDestination([hello.hostname]))).toEqual(["elsewhere"]);
  });

  it("find a destination policy by exactly its labels", async () => {
    const store = await over(
      aConfig("DestinationPolicy", "v1", "{destination: {name: world, labels: {version: v1}}}"),
      aConfig("DestinationPolicy", "any", "{destination: {name: world}}"),
    );
    expect((await store.destinationPolicy([], world, { version: "v1" }))?.meta.name).toBe("v1");
    expect((await store.destinationPolicy([], world, {}))?.meta.name).toBe("any");
    expect(await store.destinationPolicy([], world, { version: "v2" })).toBeUndefined();
  });

  it("find quota specs through their bindings", async () => {
    const store = await over(
      aConfig("QuotaSpec", "q", "{rules: [{quotas: [{quota: requests, charge: 1}]}]}"),
      aConfig("QuotaSpec", "unbound", "{rules: [{quotas: [{quota: requests, charge: 1}]}]}"),
      aConfig("QuotaSpecBinding", "b", "{services: [{name: world}], quotaSpecs: [{name: q}]}"),
    );
    expect(names(await store.quotaSpecsByDestination(world))).toEqual(["q"]);
    expect(await store.quotaSpecsByDestination("hello.default.svc.cluster.local")).toEqual([]);
  });

  it("prefer the authentication policy that names service and port", async () => {
    const store = await over(
      aConfig("Policy", "all", "{peers: [{mtls: {}}]}"),
      aConfig("Policy", "service", "{targets: [{name: world}]}"),
      aConfig("Policy", "port", "{targets: [{name: world, ports: [{name: http}]}]}"),
    );
    const policy = async (host: string, name: string) =>
      (await store.authenticationPolicyByDestination(host, { name, number: 80 }))?.meta.name;
    expect(await policy(world, "http")).toBe("port");
    expect(await policy(world, "grpc")).toBe("service");
    expect(await policy("hello.default.svc.cluster.local", "http")).toBe("all");
    expect(await policy("world.other.svc.cluster.local", "http")).toBeUndefined();
  });

  it("list roles of a namespace, and find the one RBAC config", async () => {
    const store = await over(
      aConfig("ServiceRole", "r", "{rules: [{services: [a]}]}"),
      aConfig("RbacConfig", "default", "{mode: ON}"),
      aConfig("AuthorizationPolicy", "p", "{}"),
    );
    expect(names(await store.serviceRoles("default"))).toEqual(["r"]);
    expect(await store.serviceRoles("other")).toEqual([]);
    expect((await store.rbacConfig())?.spec).toEqual({ mode: "ON" });
    expect(await store.clusterRbacConfig()).toBeUndefined();
    expect(names(await store.authorizationPolicies("default"))).toEqual(["p"]);
  });
});
