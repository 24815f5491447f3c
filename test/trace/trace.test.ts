import { describe, expect, it } from "vitest";
import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { RouteConfigurationJson } from "../../gen/envoy/config/route/v3/route_pb.ts";
import { addressOfHost } from "../../lib/trace/destination.ts";
import type { NodeResources } from "../../lib/trace/node-resources.ts";
import { trace } from "../../lib/trace/trace.ts";
import { type RequestOptions, requestOf } from "../../lib/trace/traced-request.ts";

const table = (virtualHosts: RouteConfigurationJson["virtualHosts"] & object): RouteConfigurationJson => ({
  name: "80",
  virtualHosts,
});
const answering = (name: string, ...domains: readonly string[]) => ({
  name,
  domains: [...domains],
  routes: [{ match: { prefix: "/" }, directResponse: { status: 200 } }],
});
const manager = {
  name: "http",
  typedConfig: {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    rds: { routeConfigName: "80" },
  },
};
const proxyTo = (cluster: string) => ({
  name: "tcp",
  typedConfig: { "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", cluster },
});
const gateway: ListenerJson = {
  name: "gateway",
  address: { socketAddress: { address: "0.0.0.0", portValue: 80 } },
  filterChains: [{ filters: [manager] }],
};

function having(routes: RouteConfigurationJson, more: Partial<NodeResources> = {}): NodeResources {
  return {
    listeners: [gateway],
    routes: new Map([["80", routes]]),
    clusters: new Map(),
    endpoints: new Map(),
    ...more,
  };
}

const asked = (url: string, more: Partial<RequestOptions> = {}) => requestOf(url, { direction: "inbound", ...more });
const nobodyReads = () => undefined;

/** What was chosen at a step. */
function chosenAt(step: string, resources: NodeResources, url: string, more: Partial<RequestOptions> = {}) {
  const { decisions, ways } = trace(resources, asked(url, more), nobodyReads);
  return [...decisions, ...(ways[0]?.decisions ?? [])].find((one) => one.step === step)?.chosen;
}

describe("a trace", () => {
  const hosts = having(
    table([
      answering("all", "*"),
      answering("suffix", "*.example.com"),
      answering("longer", "*.shop.example.com"),
      answering("prefix", "a.*"),
      answering("exact", "a.shop.example.com"),
    ]),
  );

  it.each([
    ["http://a.shop.example.com/", "exact"],
    ["http://A.SHOP.example.com/", "exact"],
    ["http://b.shop.example.com/", "longer"],
    ["http://shop.example.com/", "suffix"],
    ["http://a.other/", "prefix"],
    ["http://example.com/", "all"],
    ["http://a.shop.example.com:80/", "prefix"],
    ["http://c.shop.example.com:80/", "all"],
  ])("sends %s to the virtual host %s", (url, host) => {
    expect(chosenAt("virtual host", hosts, url)).toBe(host);
  });

  it("says what else would have fitted, and why it was not taken", () => {
    const { decisions } = trace(hosts, asked("http://b.shop.example.com/"), nobodyReads);
    expect(decisions.at(-1)?.passedOver).toEqual([
      { name: "suffix", why: "domain *.example.com is less exact" },
      { name: "all", why: "domain * is less exact" },
    ]);
  });

  it("tries routes in order, and says of each that came before what did not fit", () => {
    const routes = [
      {
        match: { prefix: "/", headers: [{ name: "x-user", stringMatch: { exact: "jason" }, invertMatch: true }] },
        redirect: {},
      },
      { match: { path: "/a" }, directResponse: { status: 201 } },
      { match: { prefix: "/" }, directResponse: { status: 202 } },
    ];
    const { ways } = trace(
      having(table([{ name: "one", domains: ["*"], routes }])),
      asked("http://a/b?c"),
      nobodyReads,
    );
    expect(ways).toMatchObject([{ sharePercent: 100, end: { kind: "response", status: 202 } }]);
    expect(ways[0]?.decisions[0]?.passedOver).toEqual([
      { name: "route 1", why: 'path is not "/a"' },
      { name: "route 0", why: "header x-user is missing" },
    ]);
  });

  it("divides requests by fractions, then by weights", () => {
    const half = { defaultValue: { numerator: 50, denominator: "HUNDRED" as const } };
    const clusters = [
      { name: "one", weight: 1 },
      { name: "two", weight: 3 },
      { name: "none", weight: 0 },
    ];
    const routes = [
      { match: { prefix: "/", runtimeFraction: half }, route: { weightedClusters: { clusters } } },
      { match: { prefix: "/" }, directResponse: { status: 204 } },
    ];
    const { ways } = trace(having(table([{ name: "one", domains: ["*"], routes }])), asked("http://a/"), nobodyReads);
    expect(ways.map(({ sharePercent, end }) => [sharePercent, end.kind === "response" && end.status])).toEqual([
      [12.5, 503],
      [37.5, 503],
      [50, 204],
    ]);
  });

  it("says that it does not know where an expression that it cannot read decides", () => {
    const routes = [{ match: { safeRegex: { regex: "/a" } }, redirect: {} }];
    const { ways } = trace(having(table([{ name: "one", domains: ["*"], routes }])), asked("http://a/a"), nobodyReads);
    expect(ways).toMatchObject([{ end: { kind: "not known" } }]);
  });

  it("gives requests to the next priority as soon as the first has not enough that is healthy", () => {
    const endpoint = (address: string, healthStatus: "HEALTHY" | "UNHEALTHY") => ({
      healthStatus,
      endpoint: { address: { socketAddress: { address, portValue: 1 } } },
    });
    const endpoints = [
      { priority: 0, lbEndpoints: [endpoint("10.0.0.1", "HEALTHY"), endpoint("10.0.0.2", "UNHEALTHY")] },
      { priority: 1, lbEndpoints: [endpoint("10.0.0.3", "HEALTHY")] },
    ];
    const routes = table([
      { name: "one", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "shop" } }] },
    ]);
    const shop = { name: "shop", type: "EDS" as const };
    const resources = having(routes, {
      clusters: new Map([["shop", shop]]),
      endpoints: new Map([["shop", { clusterName: "shop", endpoints }]]),
    });
    const { ways } = trace(resources, asked("http://a/"), nobodyReads);
    expect(ways).toMatchObject([
      {
        end: {
          kind: "endpoints",
          endpoints: [
            { address: "10.0.0.1", sharePercent: 70 },
            { address: "10.0.0.3", sharePercent: 30 },
          ],
        },
      },
    ]);
  });

  it("lets a chain that is more exact in an early criterion hide one that would fit in a later one", () => {
    const resources = having(table([answering("all", "*")]), {
      listeners: [
        {
          ...gateway,
          filterChains: [
            { name: "port", filterChainMatch: { destinationPort: 80, transportProtocol: "tls" }, filters: [manager] },
            { name: "any", filters: [manager] },
          ],
        },
      ],
    });
    const { ways, decisions } = trace(resources, asked("http://a/"), nobodyReads);
    expect(ways).toMatchObject([{ end: { kind: "closed" } }]);
    expect(decisions[1]?.passedOver[1]).toEqual({
      name: "any (chain 1)",
      why: "destination port any is less exact than 80",
    });
  });

  it("knows the address of a host from the tables and listeners that name it", () => {
    const routes = table([answering("shop", "shop.example.com", "10.0.0.5", "[::5]")]);
    const database: ListenerJson = {
      name: "10.0.0.9_3306",
      address: { socketAddress: { address: "10.0.0.9", portValue: 3306 } },
      filterChains: [{ filters: [proxyTo("outbound|3306||mysql.shop.svc.cluster.local")] }],
    };
    const outside: ListenerJson = {
      name: "0.0.0.0_5432",
      address: { socketAddress: { address: "0.0.0.0", portValue: 5432 } },
      filterChains: [
        {
          filterChainMatch: { prefixRanges: [{ addressPrefix: "192.0.2.0", prefixLen: 24 }] },
          filters: [proxyTo("outbound|5432||db.example.com")],
        },
      ],
    };
    const names = new Map([["cache-0.cache.shop.svc.cluster.local", ["10.0.1.1"]]]);
    const resources = having(routes, { listeners: [gateway, database, outside], names });
    expect(addressOfHost(resources, "db.example.com", 5432)).toBe("192.0.2.0");
    expect(addressOfHost(resources, "cache-0.cache", 6379)).toBe("10.0.1.1");
    expect(addressOfHost(resources, "cache-0.cache.shop.svc.cluster.local", 6379)).toBe("10.0.1.1");
    expect(addressOfHost(resources, "SHOP.example.com", 80)).toBe("10.0.0.5");
    expect(addressOfHost(resources, "mysql.shop", 3306)).toBe("10.0.0.9");
    expect(addressOfHost(resources, "nobody", 80)).toBeUndefined();
  });

  it.each([
    "reviews:9080",
    "ftp://a/",
    "http://user:pass@a/",
    "tcp://a",
    "http://a:0/",
    "http://a:99999/",
    "http:// a/",
    `http://a/${"x".repeat(9_000)}`,
  ])("takes no %s for a URL", (url) => {
    expect(() => asked(url)).toThrow(/is no URL|has no port/);
  });
});
