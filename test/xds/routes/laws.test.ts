import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import type { MeshVirtualService } from "../../../lib/mesh/index/virtual-service-index.ts";
import type { Protocol, Service } from "../../../lib/registry/service.ts";
import { generateRoutes } from "../../../lib/xds/routes/generate-routes.ts";
import { routeView, service, virtualService } from "./fixture.ts";

const names = ["80", "8080", "http_proxy", "a.ns1.svc.cluster.local:8080", "*.example.com:80", "81"];

const host = fc.constantFrom(
  "a.ns1.svc.cluster.local",
  "A.ns1.svc.cluster.local",
  "b.ns1.svc.cluster.local",
  "a.ns2.svc.cluster.local",
  "a.ns1",
  "a.example.com",
  "*.example.com",
  "10.0.0.1",
);
const port = fc.tuple(fc.constantFrom(80, 8080), fc.constantFrom<Protocol>("HTTP", "TCP", "Unsupported", "GRPC"));

const anyService: fc.Arbitrary<Service> = fc
  .record({
    host,
    ports: fc.uniqueArray(port, { minLength: 1, selector: ([number]) => number }),
    address: fc.constantFrom("0.0.0.0", "10.0.0.1", "10.0.0.2", "fd00::1"),
    resolution: fc.constantFrom("ClientSideLB" as const, "Passthrough" as const, "DNSLB" as const),
    aliases: fc.array(
      host.map((hostname) => ({ hostname, namespace: "ns1" })),
      { maxLength: 1 },
    ),
  })
  .map(({ host, ports, address, resolution, aliases }) =>
    service(host, ports, { defaultAddress: address, resolution, attributes: { aliases } }),
  );

const match = fc.record(
  {
    uri: fc.constantFrom({ prefix: "/" }, { exact: "/a" }, { regex: ".*" }),
    port: fc.constantFrom(80, 8080),
    headers: fc.constant({ "x-a": { exact: "1" } }),
    sourceLabels: fc.constant({ app: "web" }),
    gateways: fc.constantFrom(["mesh"], ["ns/gw"]),
  },
  { requiredKeys: [] },
);
const destination = host.map((to) => ({ destination: { host: to } }));

const anyVirtualService: fc.Arbitrary<MeshVirtualService> = fc
  .record({
    name: fc.constantFrom("one", "two", "three"),
    hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 2 }),
    http: fc.array(
      fc.record({
        match: fc.array(match, { maxLength: 2 }),
        route: fc.array(destination, { minLength: 1, maxLength: 1 }),
      }),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  })
  .map(({ name, hosts, http }) => virtualService(name, { hosts, http }));

const worlds = fc.record({
  services: fc.uniqueArray(anyService, { maxLength: 6, selector: ({ hostname }) => hostname.toLowerCase() }),
  virtualServices: fc.array(anyVirtualService, { maxLength: 3 }),
});

describe("the route tables of any sidecar", () => {
  it("name each virtual host once, in order, and give each domain to one of them", () => {
    fc.assert(
      fc.property(worlds, (parts) => {
        for (const { json } of generateRoutes(routeView(parts), names, noMemo).value) {
          const hosts = json.virtualHosts ?? [];
          const named = hosts.map(({ name = "" }) => name).filter((name) => name !== "allow_any");
          expect(named).toEqual([...new Set(named)].sort());
          const domains = hosts.flatMap((each) => each.domains ?? []).map((domain) => domain.toLowerCase());
          expect(new Set(domains).size).toBe(domains.length);
          expect(hosts.every((each) => (each.domains ?? []).length > 0 && (each.routes ?? []).length > 0)).toBe(true);
        }
      }),
    );
  });

  it("are the same whatever the memo has seen before", () => {
    fc.assert(
      fc.property(fc.array(worlds, { minLength: 2, maxLength: 4 }), (history) => {
        const memo = createMemo();
        for (const parts of history) {
          const remembered = generateRoutes(routeView(parts), names, memo);
          expect(remembered).toEqual(generateRoutes(routeView(parts), names, noMemo));
        }
      }),
    );
  });

  it("do not depend on the order in which services come", () => {
    fc.assert(
      fc.property(worlds, (parts) => {
        const turned = { ...parts, services: [...parts.services].reverse() };
        const tables = (of: typeof parts) => generateRoutes(routeView(of), names, noMemo).value.map(({ json }) => json);
        expect(tables(turned)).toEqual(tables(parts));
      }),
    );
  });
});
