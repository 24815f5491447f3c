import type { JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { checkResource, fitsElement } from "../../lib/xds/descriptors.ts";
import type { ResourceType } from "../../lib/xds/resource.ts";

/** What is said of a resource; "" when it is taken. */
const told = (type: ResourceType, json: object): string =>
  checkResource(type, { name: "r", json, from: [] })?.message.replace(`${type} r was left out: `, "") ?? "";

const table = (...routes: readonly JsonValue[]) => ({
  name: "80",
  virtualHosts: [{ name: "a:80", domains: ["a"], routes }],
});
const route = { match: { prefix: "/" }, route: { cluster: "c" } };
const wasm = "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault";

describe("a constraint of Envoy's protos", () => {
  it.each<[string, ResourceType, object, string]>([
    [
      "a route without an action",
      "routes",
      table(route, { match: { prefix: "/" } }),
      "virtualHosts[0].routes[1] must have one of route, redirect, directResponse",
    ],
    [
      "a route without a match",
      "routes",
      table({ route: { cluster: "c" } }),
      "virtualHosts[0].routes[0].match is required",
    ],
    [
      "a host without domains",
      "routes",
      { name: "80", virtualHosts: [{ name: "a", domains: [] }] },
      "virtualHosts[0].domains must have at least 1 elements",
    ],
    [
      "a cluster without a name",
      "routes",
      table({ match: { prefix: "/" }, route: { cluster: "" } }),
      "virtualHosts[0].routes[0].route.cluster must have at least 1 characters",
    ],
    [
      "a header that ends a line",
      "routes",
      table({ ...route, responseHeadersToAdd: [{ header: { key: "x", value: "a\nb" } }] }),
      "virtualHosts[0].routes[0].responseHeadersToAdd[0].header.value must be what a header may hold",
    ],
    ["a cluster that is called nothing", "clusters", { type: "STATIC" }, "name must have at least 1 characters"],
    ["a timeout of nothing", "clusters", { name: "c", connectTimeout: "0s" }, "connectTimeout must be more than 0s"],
    [
      "a port that there is not",
      "endpoints",
      {
        clusterName: "c",
        endpoints: [
          { lbEndpoints: [{ endpoint: { address: { socketAddress: { address: "10.0.0.1", portValue: 65_536 } } } }] },
        ],
      },
      "endpoints[0].lbEndpoints[0].endpoint.address.socketAddress.portValue must be at most 65535",
    ],
    [
      "what is wrong within an Any of a map",
      "routes",
      table({
        ...route,
        typedPerFilterConfig: { "envoy.filters.http.fault": { "@type": wasm, abort: { percentage: {} } } },
      }),
      "virtualHosts[0].routes[0].typedPerFilterConfig.envoy.filters.http.fault.abort must have one of httpStatus",
    ],
  ])("refuses %s, with the path", (_what, type, json, words) => {
    expect(told(type, json)).toContain(words);
  });

  it.each<[string, ResourceType, object]>([
    ["a table as it should be", "routes", table(route)],
    ["what is only limited where it is there", "clusters", { name: "c" }],
    ["a wrapped number within its bounds", "clusters", { name: "c", perConnectionBufferLimitBytes: 1 }],
    ["a field of a oneof that another was chosen for", "routes", table({ ...route, match: { path: "/a" } })],
    ["the other spelling of a name", "routes", { name: "80", virtual_hosts: [{ name: "a", domains: ["a"] }] }],
    [
      "a type that nobody knows",
      "routes",
      table({ ...route, typedPerFilterConfig: { x: { "@type": "type.googleapis.com/example.X" } } }),
    ],
  ])("takes %s", (_what, type, json) => {
    expect(told(type, json)).toBe("");
  });

  it("is found in the other spelling of a name, too", () => {
    expect(told("routes", { name: "80", virtual_hosts: [{ name: "a" }] })).toContain("virtualHosts[0].domains");
  });

  it("counts for the elements of a long list, each by itself", () => {
    const host = { name: "a", domains: ["a"], routes: [route] };
    expect(fitsElement("routes", "virtualHosts", host)).toBe(true);
    expect(fitsElement("routes", "virtualHosts", { ...host, routes: [{ match: { prefix: "/" } }] })).toBe(false);
  });
});
