import { describe, expect, it } from "vitest";
import { entry, listenersOf } from "./small-world.ts";

const passthrough = "PassthroughFilterChain";

/** Chains of `0.0.0.0_9000`, shortly: what they match and what they do. */
function chains(protocols: readonly string[]) {
  const input = protocols.map((protocol, index) => entry(`s${index}`, 9000, protocol)).join("");
  const { at, diagnostics } = listenersOf({ input });
  const listener = "0.0.0.0_9000";
  const kinds: string[] = [];
  for (let index = 0; at(listener, "filterChains", index) !== undefined; index++) {
    const filter = at(listener, "filterChains", index, "filters", 0, "name");
    kinds.push(`${filter}`.replace("envoy.filters.network.", ""));
  }
  const fallback = at(listener, "defaultFilterChain");
  const name = at(listener, "defaultFilterChain", "name");
  const cluster = at(listener, "defaultFilterChain", "filters", 0, "typedConfig", "cluster");
  return {
    kinds,
    fallback: fallback === undefined ? undefined : (name ?? cluster),
    reported: diagnostics.filter(({ code }) => code === "listener-conflict").length,
  };
}

const first = "outbound|9000||s0.example.com";
const second = "outbound|9000||s1.example.com";

describe("two services on one wildcard port", () => {
  it.each([
    { protocols: ["HTTP"], kinds: ["http_connection_manager"], fallback: passthrough, reported: 0 },
    { protocols: ["TCP"], kinds: ["tcp_proxy"], fallback: undefined, reported: 0 },
    { protocols: ["HTTP", "GRPC"], kinds: ["http_connection_manager"], fallback: passthrough, reported: 0 },
    { protocols: ["HTTP", "TCP"], kinds: ["http_connection_manager"], fallback: second, reported: 0 },
    { protocols: ["TCP", "HTTP"], kinds: ["http_connection_manager"], fallback: first, reported: 0 },
    { protocols: ["TCP", "TCP"], kinds: ["tcp_proxy"], fallback: undefined, reported: 1 },
    { protocols: ["MONGO", "HTTP"], kinds: ["mongo_proxy"], fallback: undefined, reported: 1 },
    { protocols: ["HTTP", "MONGO"], kinds: ["http_connection_manager"], fallback: passthrough, reported: 1 },
    { protocols: ["TLS", "TLS"], kinds: ["tcp_proxy", "tcp_proxy"], fallback: passthrough, reported: 0 },
    { protocols: ["TLS", "HTTP"], kinds: ["tcp_proxy", "http_connection_manager"], fallback: passthrough, reported: 0 },
  ])("$protocols share it as the conflict table says", ({ protocols, kinds, fallback, reported }) => {
    expect(chains(protocols)).toEqual({ kinds, fallback, reported });
  });

  it("ends a Mongo connection in a TCP proxy, behind the filter that reads it", () => {
    const { at } = listenersOf({ input: entry("m", 27017, "MONGO") });
    expect(at("0.0.0.0_27017", "filterChains", 0, "filters", 1, "name")).toBe("envoy.filters.network.tcp_proxy");
  });
});

describe("ports that the proxy needs for itself", () => {
  const input = [15001, 15006, 15021, 15090, 15002].map((port) => entry(`s${port}`, port, "HTTP")).join("");
  const node = { metadata: { ENVOY_STATUS_PORT: 15021, ENVOY_PROMETHEUS_PORT: 15090 } };

  it("get no listener on the wildcard address", () => {
    expect(listenersOf({ input, node }).names).toEqual(["0.0.0.0_15002", "virtualInbound", "virtualOutbound"]);
  });

  it("include the low ones of an unprivileged pod that binds its ports", () => {
    const metadata = { INTERCEPTION_MODE: "NONE", UNPRIVILEGED_POD: "true" };
    const low = entry("low", 80, "HTTP") + entry("high", 1024, "HTTP");
    expect(listenersOf({ input: low, node: { metadata } }).names).toEqual(["127.0.0.1_1024"]);
  });
});
