/** Whether a patch has something to change. @see docs/how-istio-does-it/envoy-filters.md#matching */
import type { FilterChainJson, FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { HttpConnectionManagerJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import {
  matchesChain,
  matchesHttpFilter,
  matchesListener,
  matchesNetworkFilter,
  namesHttpFilter,
  namesNetworkFilter,
} from "./match-listener.ts";
import type { Patch } from "./patch.ts";
import { connectionManager } from "./patch-filters.ts";

type AnyPatch = Patch<unknown>;

/** Whether it comes to be there whatever else is. */
const isPutAnywhere = ({ operation }: AnyPatch): boolean => operation === "ADD" || operation === "INSERT_FIRST";

export const matchesListenerFilter = (listener: ListenerJson, patch: AnyPatch): boolean => {
  if (!matchesListener(listener, patch)) return false;
  const name = patch.match.listener?.listenerFilter ?? "";
  return name === "" || isPutAnywhere(patch) || (listener.listenerFilters ?? []).some((filter) => filter.name === name);
};

export const matchesSomeChain = (listener: ListenerJson, patch: AnyPatch): boolean =>
  matchesListener(listener, patch) &&
  (patch.operation === "ADD" || chainsOf(listener).some((chain) => matchesChain(listener, chain, patch)));

export const matchesSomeFilter = (listener: ListenerJson, patch: AnyPatch): boolean =>
  matchesListener(listener, patch) &&
  chainsOf(listener).some(
    (chain) =>
      matchesChain(listener, chain, patch) &&
      (isPutAnywhere(patch) ||
        !namesNetworkFilter(patch) ||
        (chain.filters ?? []).some(({ name }) => matchesNetworkFilter(name, patch))),
  );

export const matchesSomeHttpFilter = (listener: ListenerJson, patch: AnyPatch): boolean =>
  matchesListener(listener, patch) &&
  chainsOf(listener).some(
    (chain) =>
      matchesChain(listener, chain, patch) &&
      managersIn(chain).some(
        ({ name, typedConfig }) =>
          matchesNetworkFilter(name, patch) &&
          (isPutAnywhere(patch) ||
            !namesHttpFilter(patch) ||
            (typedConfig?.httpFilters ?? []).some((filter) => matchesHttpFilter(filter.name, patch))),
      ),
  );

/** The route tables that a listener carries. */
export const tablesIn = (listener: ListenerJson): readonly RouteConfigurationJson[] =>
  chainsOf(listener).flatMap((chain) => managersIn(chain).flatMap(({ typedConfig }) => typedConfig?.routeConfig ?? []));

const chainsOf = ({ filterChains = [], defaultFilterChain }: ListenerJson): readonly FilterChainJson[] =>
  defaultFilterChain === undefined ? filterChains : [...filterChains, defaultFilterChain];

interface Manager extends Pick<FilterJson, "name"> {
  readonly typedConfig?: HttpConnectionManagerJson;
}

/** A filter of that name holds a connection manager; Any's type cannot say so. */
const managersIn = ({ filters = [] }: FilterChainJson): readonly Manager[] =>
  filters.filter(({ name }) => name === connectionManager) as readonly Manager[];
