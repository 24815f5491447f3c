import type { Dice } from "./dice.ts";
import { labels, type Manifest, manifest, namespaces, ports } from "./vocabulary.ts";

export function randomEnvoyFilter(dice: Dice, name: string): Manifest {
  return manifest(dice, ["networking.istio.io/v1alpha3", "EnvoyFilter"], [dice.pick(namespaces), name], {
    spec: {
      ...dice.maybe(40, () => ({
        workloadSelector: { labels: dice.chance(40) ? { istio: "ingressgateway" } : labels(dice) },
      })),
      ...dice.maybe(30, () => ({ priority: dice.int(20) - 10 })),
      configPatches: dice.list(1, 3, () => randomPatch(dice)),
    },
  });
}

const context = (dice: Dice): object =>
  dice.maybe(70, () => ({ context: dice.pick(["ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY"]) }));

const manager = "envoy.filters.network.http_connection_manager";
const luaFilter = {
  name: "lua",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
    default_source_code: { inline_string: "function envoy_on_request(h) end" },
  },
} as const;

const makers: readonly ((dice: Dice) => object)[] = [
  (dice) => ({
    applyTo: "CLUSTER",
    match: { ...context(dice), ...dice.maybe(60, () => ({ cluster: { portNumber: dice.pick(ports) } })) },
    patch: {
      operation: "MERGE",
      value: { connect_timeout: "7s", ...dice.maybe(50, () => ({ dns_lookup_family: "V4_ONLY" })) },
    },
  }),
  () => ({
    applyTo: "CLUSTER",
    match: { context: "SIDECAR_OUTBOUND", cluster: { service: "b.ns1.svc.cluster.local" } },
    patch: { operation: "REMOVE" },
  }),
  (dice) => ({
    applyTo: "CLUSTER",
    match: context(dice),
    patch: { operation: "ADD", value: { name: "added", type: "STATIC", connect_timeout: "1s" } },
  }),
  (dice) => ({
    applyTo: "HTTP_FILTER",
    match: {
      ...context(dice),
      listener: { filterChain: { filter: { name: manager, subFilter: { name: "envoy.filters.http.router" } } } },
    },
    patch: { operation: dice.pick(["INSERT_BEFORE", "INSERT_FIRST"]), value: luaFilter },
  }),
  (dice) => ({
    applyTo: "HTTP_FILTER",
    match: {
      ...context(dice),
      listener: { filterChain: { filter: { name: manager, subFilter: { name: "envoy.filters.http.fault" } } } },
    },
    patch: dice.pick([
      { operation: "REMOVE" },
      { operation: "INSERT_AFTER", value: luaFilter },
      { operation: "REPLACE", value: luaFilter },
    ]),
  }),
  (dice) => ({
    applyTo: "NETWORK_FILTER",
    match: { ...context(dice), listener: { filterChain: { filter: { name: manager } } } },
    patch: {
      operation: "MERGE",
      value: {
        name: manager,
        typed_config: {
          "@type":
            "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
          xff_num_trusted_hops: 5,
          common_http_protocol_options: { idle_timeout: "30s" },
        },
      },
    },
  }),
  (dice) => ({
    applyTo: "LISTENER",
    match: {
      ...context(dice),
      ...dice.maybe(50, () => ({ listener: { portNumber: dice.pick([80, 443, 15001, 15006]) } })),
    },
    patch: { operation: "MERGE", value: { per_connection_buffer_limit_bytes: 65536 } },
  }),
  (dice) => ({
    applyTo: "FILTER_CHAIN",
    match: { ...context(dice), ...dice.maybe(50, () => ({ listener: { filterChain: { transportProtocol: "tls" } } })) },
    patch: { operation: "MERGE", value: { transport_socket_connect_timeout: "3s" } },
  }),
  (dice) => ({
    applyTo: "LISTENER_FILTER",
    match: context(dice),
    patch: {
      operation: "INSERT_FIRST",
      value: {
        name: "proxy-protocol",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol",
        },
      },
    },
  }),
  (dice) => ({
    applyTo: "ROUTE_CONFIGURATION",
    match: { ...context(dice), ...dice.maybe(50, () => ({ routeConfiguration: { portNumber: dice.pick(ports) } })) },
    patch: { operation: "MERGE", value: { request_headers_to_remove: ["x-filtered"] } },
  }),
  (dice) => ({
    applyTo: "VIRTUAL_HOST",
    match: {
      ...context(dice),
      ...dice.maybe(50, () => ({ routeConfiguration: { vhost: { name: "a.ns1.svc.cluster.local:80" } } })),
    },
    patch: { operation: "MERGE", value: { include_request_attempt_count: false } },
  }),
  (dice) => ({
    applyTo: "VIRTUAL_HOST",
    match: { ...context(dice) },
    patch: {
      operation: "ADD",
      value: {
        name: "added",
        domains: [`added-${dice.int(1_000_000)}.example.com`],
        routes: [{ match: { prefix: "/" }, direct_response: { status: 404 } }],
      },
    },
  }),
  (dice) => ({
    applyTo: "HTTP_ROUTE",
    match: {
      ...context(dice),
      routeConfiguration: { vhost: { route: { action: dice.pick(["ANY", "ROUTE"]) } } },
    },
    patch: dice.pick([
      { operation: "MERGE", value: { response_headers_to_remove: ["x-a"] } },
      {
        operation: "INSERT_FIRST",
        value: { name: "first", match: { path: "/teapot" }, direct_response: { status: 418 } },
      },
    ]),
  }),
];

const randomPatch = (dice: Dice): object => dice.pick(makers)(dice);
