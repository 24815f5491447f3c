import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ConsulInstance,
  readCatalogService,
  readCatalogServices,
  readHealthService,
} from "../../../lib/registry/consul/catalog.ts";
import {
  type ConsulListing,
  type ConsulOptions,
  consulContent,
  labelsOfTags,
} from "../../../lib/registry/consul/convert.ts";
import { readStoredService, storedServices } from "../../../lib/registry/consul/stored-service.ts";

const captured = new URL("../../captured/consul/", import.meta.url);
const options: ConsulOptions = { trustDomain: "cluster.local", release: "1.1" };

/** As instances come back from where they are stored. */
const listed = (instances: readonly ConsulInstance[]): readonly ConsulListing[] =>
  storedServices(instances).map(({ object }) => readStoredService(JSON.parse(JSON.stringify(object)), "consul"));

function body(file: string): unknown {
  return JSON.parse(readFileSync(new URL(`${file}.json`, captured), "utf8")).body;
}

const services = ["reviews", "ratings", "nometa", "ext"].flatMap((name) =>
  readCatalogService(body(`catalog-service-${name}`)),
);

function instance(more: Partial<ConsulInstance>): ConsulInstance {
  return {
    node: "n",
    nodeId: "",
    nodeAddress: "10.0.0.1",
    datacenter: "dc1",
    nodeMeta: {},
    serviceId: "s",
    serviceName: "s",
    serviceAddress: "",
    port: 80,
    tags: [],
    serviceMeta: {},
    passing: true,
    ...more,
  };
}

describe("the captured answers of Consul", () => {
  it("name all services, Consul itself included", () => {
    expect(readCatalogServices(body("catalog-services"))).toEqual(["consul", "ext", "nometa", "ratings", "reviews"]);
  });

  it("become the services that the reference sheet says", () => {
    const { value, diagnostics } = consulContent(listed(services), options);
    expect(diagnostics).toEqual([]);
    expect(
      value.services.map(({ hostname, ports, resolution, meshExternal }) => [
        hostname,
        ports,
        resolution,
        meshExternal,
      ]),
    ).toEqual([
      ["ext.service.consul", [{ name: "https", port: 443, protocol: "HTTPS" }], "Passthrough", true],
      ["nometa.service.consul", [{ name: "tcp", port: 7000, protocol: "TCP" }], "ClientSideLB", false],
      ["ratings.service.consul", expect.any(Array), "ClientSideLB", false],
      ["reviews.service.consul", [{ name: "http", port: 9080, protocol: "HTTP" }], "ClientSideLB", false],
    ]);
    expect(value.services.every(({ defaultAddress }) => defaultAddress === "0.0.0.0")).toBe(true);
    expect(value.services[0]?.serviceAccounts).toEqual(["spiffe://cluster.local/ns/default/sa/default"]);
  });

  it("become endpoints at the service's address, or the node's, with labels from the tags", () => {
    const { endpoints } = consulContent(listed(services), options).value;
    expect(endpoints.get("default/reviews.service.consul")).toMatchObject([
      { addresses: ["10.0.0.11"], port: 9080, labels: { version: "v1", app: "reviews" }, locality: { label: "dc1" } },
      { addresses: ["10.0.0.12"], port: 9080, labels: { version: "v2" } },
    ]);
    const ratings = readCatalogService(body("catalog-service-ratings"));
    expect(endpoints.get("default/ratings.service.consul")?.[0]?.addresses).toEqual([ratings[0]?.nodeAddress]);
  });

  it("say which instances pass their checks", () => {
    const all = readHealthService(body("health-service-reviews"));
    const passing = readHealthService(body("health-service-reviews-passing"));
    expect(all.filter((one) => one.passing).map(({ serviceId }) => serviceId)).toEqual(
      passing.map(({ serviceId }) => serviceId),
    );
    expect(all.length).toBeGreaterThan(passing.length);
  });

  it("of a service that went are no instances", () => {
    expect(readCatalogService(body("catalog-service-missing"))).toEqual([]);
  });
});

describe("a Consul service", () => {
  it.each([
    { release: "1.1", serviceMeta: { protocol: "grpc" }, nodeMeta: {}, want: ["grpc", "GRPC"] },
    { release: "1.1", serviceMeta: {}, nodeMeta: { protocol: "grpc" }, want: ["tcp", "TCP"] },
    { release: "1.1", serviceMeta: { protocol: "odd" }, nodeMeta: {}, want: ["odd", "TCP"] },
    { release: "0.8", serviceMeta: { protocol: "grpc" }, nodeMeta: {}, want: ["http", "HTTP"] },
    { release: "0.8", serviceMeta: {}, nodeMeta: { protocol: "redis" }, want: ["redis", "Redis"] },
  ] as const)(
    "of $release with meta $serviceMeta, node meta $nodeMeta has port $want",
    ({ release, want, ...meta }) => {
      const { value } = consulContent(listed([instance(meta)]), { ...options, release });
      expect(value.services[0]?.ports.map(({ name, protocol }) => [name, protocol])).toEqual([want]);
    },
  );

  it("has one port for each number, and says when instances disagree on its protocol", () => {
    const { value, diagnostics } = consulContent(
      listed([
        instance({ serviceId: "b", serviceMeta: { protocol: "http" } }),
        instance({ serviceId: "a", serviceMeta: { protocol: "grpc" } }),
        instance({ serviceId: "c", port: 81 }),
      ]),
      options,
    );
    expect(value.services[0]?.ports.map(({ name, port }) => [name, port])).toEqual([
      ["grpc", 80],
      ["tcp", 81],
    ]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["consul-port-protocols-differ"]);
  });

  it.each([
    [["a|b"], { a: "b" }],
    [["plain"], {}],
    [["a|b|c"], { a: "b" }],
    [["a|"], { a: "" }],
  ])("with tags %j has labels %j", (tags, want) => {
    expect(labelsOfTags(tags)).toEqual(want);
  });

  it("takes mTLS where its tags say so", () => {
    const { value } = consulContent(listed([instance({ tags: ["security.istio.io/tlsMode|istio"] })]), options);
    expect(value.endpoints.get("default/s.service.consul")?.[0]?.tlsMode).toBe("istio");
  });

  it.each([
    { release: "1.1", want: { version: "v2", team: "a" } },
    { release: "0.8", want: { version: "v2" } },
  ] as const)("of $release has labels $want of its tags and its meta", ({ release, want }) => {
    const one = instance({ tags: ["version|v2"], serviceMeta: { version: "v1", team: "a", protocol: "http" } });
    const { value } = consulContent(listed([one]), { ...options, release });
    expect(value.endpoints.get("default/s.service.consul")?.[0]?.labels).toEqual(want);
  });

  it("has the instances of all datacentres, each in the locality of its own", () => {
    const { value } = consulContent(
      listed([instance({ datacenter: "dc2", serviceAddress: "10.2.0.1" }), instance({})]),
      options,
    );
    expect(value.services).toHaveLength(1);
    expect(value.services[0]?.origins.map(({ key }) => key.namespace)).toEqual(["dc1", "dc2"]);
    const endpoints = value.endpoints.get("default/s.service.consul") ?? [];
    expect(endpoints.map(({ addresses, locality }) => [addresses[0], locality.label]).sort()).toEqual([
      ["10.0.0.1", "dc1"],
      ["10.2.0.1", "dc2"],
    ]);
  });

  it("does not depend on the order of the answer", () => {
    const shuffled = fc.shuffledSubarray([...services], { minLength: services.length });
    fc.assert(
      fc.property(shuffled, (order) => {
        expect(consulContent(listed(order), options)).toEqual(consulContent(listed(services), options));
      }),
    );
  });
});
