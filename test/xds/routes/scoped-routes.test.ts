import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemo, type Memo, noMemo } from "../../../lib/incremental/memo.ts";
import type { MeshDestinationRule } from "../../../lib/mesh/index/destination-rule-index.ts";
import type { Service } from "../../../lib/registry/service.ts";
import { onlyPortOf, type RouteScope } from "../../../lib/xds/routes/route-scope.ts";
import { type ScopedRoutes, scopedRoutes } from "../../../lib/xds/routes/scoped-routes.ts";
import type { TableSettings } from "../../../lib/xds/routes/table-context.ts";
import { destinationRule, service, virtualService } from "./fixture.ts";

const host = "a.ns1.svc.cluster.local";
const route = [{ destination: { host } }];

/** One that reads all that routes can depend on: its table's port, the gateway, the source, the service and its rule. */
const curious = virtualService("curious", {
  http: [
    { match: [{ port: 80, gateways: ["ns/gw"] }], route },
    { match: [{ sourceLabels: { app: "web" } }], route: [...route, { destination: { host: "b.ns1" } }] },
    { match: [{ uri: { exact: "/old" } }], redirect: { derivePort: "FROM_REQUEST_PORT" } },
    { route },
  ],
});

const routeScope = fc.record({
  port: fc.constantFrom(80, 443),
  gateway: fc.constantFrom("ns/gw", "ns/other"),
  terminatesTls: fc.boolean(),
  services: fc.constantFrom<readonly Service[]>(
    [],
    [service(host, [[80, "HTTP"]])],
    [service(host, [[8080, "HTTP"]])],
    [
      service(host, [
        [80, "HTTP"],
        [8080, "HTTP"],
      ]),
    ],
    [service(host, [[80, "HTTP"]], { attributes: { externalName: "elsewhere.com" } })],
  ),
  rules: fc.constantFrom<readonly MeshDestinationRule[]>(
    [],
    [destinationRule({ host, trafficPolicy: { loadBalancer: { consistentHash: { httpHeaderName: "x-user" } } } })],
    [destinationRule({ host, trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true } } } })],
  ),
  labels: fc.constantFrom({}, { app: "web" }, { app: "db" }),
});

const settings: TableSettings = {
  headers: { attemptCount: true, forwardedHost: false },
  retries: undefined,
  defaultRetry: undefined,
  proxyless: false,
};

type Place = typeof routeScope extends fc.Arbitrary<infer T> ? T : never;

function placed(of: typeof curious, at: Place, memo: Memo): ScopedRoutes {
  const { services, rules, labels, ...where } = at;
  const byHost = new Map(services.map((one) => [one.hostname, one]));
  const rulesByHost = new Map(rules.map((rule) => [rule.config.spec.host, rule]));
  const sourceLabels = new Map(Object.entries(labels));
  const there: RouteScope = {
    ...where,
    externalName: (name) => byHost.get(name)?.attributes.externalName,
    onlyPort: (name) => onlyPortOf(byHost.get(name)),
    hashRule: (name) => rulesByHost.get(name),
    sourceLabel: (key) => sourceLabels.get(key),
    sourceNamespace: "default",
  };
  return scopedRoutes(of, there, { settings, memo });
}

describe("the routes of a virtual service at a place", () => {
  it("are those of the place, whatever places the memo has seen", () => {
    fc.assert(
      fc.property(fc.array(routeScope, { minLength: 2, maxLength: 6 }), (places) => {
        const memo = createMemo();
        for (const at of places) {
          const fresh = placed(curious, at, noMemo);
          const { routes, from } = placed(curious, at, memo);
          expect({ routes, from }).toEqual({ routes: fresh.routes, from: fresh.from });
        }
      }),
    );
  });

  const at: Place = { port: 80, gateway: "ns/gw", terminatesTls: false, services: [], rules: [], labels: {} };

  it("are one object for all ports and gateways if they read nothing of them", () => {
    const memo = createMemo();
    const plain = virtualService("plain", { http: [{ route: [{ destination: { host, port: { number: 80 } } }] }] });
    const first = placed(plain, at, memo);
    expect(placed(plain, { ...at, port: 443, terminatesTls: true }, memo)).toBe(first);
    expect(placed(plain, { ...at, gateway: "ns/other" }, memo)).toBe(first);
  });

  it("stay as they are when a service changes in what they do not read", () => {
    const memo = createMemo();
    const before = placed(curious, { ...at, services: [service(host, [[80, "HTTP"]])] }, memo);
    const relabelled = service(host, [[80, "HTTP"]], { attributes: { labels: { edition: "2" } } });
    expect(placed(curious, { ...at, services: [relabelled] }, memo)).toBe(before);
  });
});
