import type { AddressJson } from "../../../gen/envoy/config/core/v3/address_pb.ts";
import type { FilterChainJson, FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type {
  HttpConnectionManagerJson,
  HttpFilterJson,
} from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { messageOfType } from "../../descriptors/messages.ts";
import { chainClaims } from "./chain-claims.ts";
import type { Refusal } from "./leave-out.ts";

const terminalNetworkFilters: ReadonlySet<string> = new Set([
  "envoy.extensions.filters.network.direct_response.v3.Config",
  "envoy.extensions.filters.network.dubbo_proxy.v3.DubboProxy",
  "envoy.extensions.filters.network.echo.v3.Echo",
  "envoy.extensions.filters.network.generic_proxy.v3.GenericProxy",
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
  "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy",
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
  "envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy",
]);
const terminalHttpFilters: ReadonlySet<string> = new Set(["envoy.extensions.filters.http.router.v3.Router"]);

/**
 * Why Envoy would refuse a listener as a whole: it has no chain, two of its chains claim the same connections, or the filters of
 * a chain do not end with the one that answers. Filters may repeat, and so may names of chains.
 *
 * @see docs/how-istio-does-it/envoy-filters.md#what-envoy-refuses-whole
 * @see envoy 1.40.0 source/common/listener_manager/listener_impl.cc
 * @see envoy 1.40.0 source/common/listener_manager/filter_chain_manager_impl.cc
 */
export function listenerRefusals(listener: ListenerJson): readonly Refusal[] {
  const chains = listener.filterChains ?? [];
  const all = listener.defaultFilterChain === undefined ? chains : [...chains, listener.defaultFilterChain];
  return [...missingChains(listener, all), ...equalChains(chains), ...all.flatMap(filterOrder)];
}

function missingChains(listener: ListenerJson, chains: readonly FilterChainJson[]): readonly Refusal[] {
  const isDatagram = listener.address?.socketAddress?.protocol === "UDP";
  if (chains.length > 0 || isDatagram) return [];
  return [{ reason: "it would have no filter chain", hint: "remove the listener, or give it another chain" }];
}

function equalChains(chains: readonly FilterChainJson[]): readonly Refusal[] {
  // One chain is nobody's double, and what was generated repeats nothing within it.
  const claims = chains.flatMap(({ filterChainMatch }) => chainClaims(filterChainMatch ?? {}));
  const count = claims.length - new Set(claims).size;
  const refusal: Refusal = {
    reason: "two of its filter chains would match the same connections",
    hint: "give the chain a filterChainMatch of its own, or merge into the chain that is there",
  };
  return Array.from({ length: count }, () => refusal);
}

function filterOrder({ filters }: FilterChainJson): readonly Refusal[] {
  if (filters === undefined) return [];
  const managers = filters.filter((filter) => typeOf(filter)?.endsWith(".HttpConnectionManager"));
  return [
    ...misplaced(filters, terminalNetworkFilters, "network"),
    ...managers.flatMap(({ typedConfig }) => {
      // Its type says that it is one.
      const { httpFilters = [] } = typedConfig as HttpConnectionManagerJson;
      return misplaced(httpFilters, terminalHttpFilters, "HTTP");
    }),
  ];
}

/** The last filter ends the chain, and no other may. A type that we do not carry is taken on trust. */
function misplaced(
  filters: readonly (FilterJson | HttpFilterJson)[],
  terminal: ReadonlySet<string>,
  sort: "network" | "HTTP",
): readonly Refusal[] {
  const last = filters.at(-1);
  if (last === undefined) return [];
  const refusals = filters.slice(0, -1).flatMap((filter) =>
    terminal.has(typeOf(filter) ?? "")
      ? {
          reason: `the ${sort} filter ${filter.name} ends its chain, and another would follow`,
          hint: `insert filters before ${filter.name}`,
        }
      : [],
  );
  if ("disabled" in last && last.disabled === true) {
    return [
      ...refusals,
      { reason: `the last ${sort} filter ${last.name} would be disabled`, hint: "leave it enabled" },
    ];
  }
  const type = typeOf(last);
  if (type === undefined || terminal.has(type) || messageOfType(type) === undefined) return refusals;
  // What follows a filter that ends the chain is one breach, not two.
  if (refusals.length > 0) return refusals;
  return [
    {
      reason: `the ${sort} filter ${last.name} would be the last, which cannot end a chain`,
      hint: "insert filters before the last one, and leave one that answers",
    },
  ];
}

/** Full name of the message that configures a filter; undefined for one that comes from elsewhere or in a wrapper. */
function typeOf({ typedConfig }: FilterJson | HttpFilterJson): string | undefined {
  const url = typedConfig?.["@type"];
  if (typeof url !== "string" || url.endsWith(".TypedStruct")) return undefined;
  return url.slice(url.lastIndexOf("/") + 1);
}

/** Addresses that a listener asks for, as texts; a port that the system chooses is nobody else's. */
export function boundAddresses({ address, additionalAddresses = [] }: ListenerJson): readonly string[] {
  return [address, ...additionalAddresses.map((additional) => additional.address)].flatMap(
    (one) => (one && addressText(one)) ?? [],
  );
}

function addressText({ socketAddress, pipe }: AddressJson): string | undefined {
  if (pipe !== undefined) return pipe.path;
  if (socketAddress?.portValue === undefined) return undefined;
  return `${socketAddress.address}:${socketAddress.portValue}${socketAddress.protocol === "UDP" ? " UDP" : ""}`;
}
