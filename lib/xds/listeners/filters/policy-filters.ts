import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { HttpFilterJson } from "../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { Stage } from "../../../config/diagnostic.ts";
import type { ListenerView } from "../../../mesh/views/views.ts";
import { type AuthorizationFilters, httpAuthorization, tcpAuthorization } from "../../security/authorization.ts";
import { jwtAuthentication } from "../../security/jwt-authentication.ts";
import { httpExtension, networkExtension } from "../../wasm/extension-filter.ts";
import { type ExtensionPhase, extensionsOf, matchesPlace } from "../../wasm/traffic-extension.ts";

/** Which listener a filter chain stands in: inbound of a sidecar, outbound of one, or a gateway. */
export type ListenerClass = "inbound" | "outbound" | "gateway";

/** Where a filter chain stands, as policies and extensions ask it. */
export interface ChainPlace {
  readonly class: ListenerClass;
  /** Port that the chain serves, 0 for pass-through chains. */
  readonly port: number;
}

/** Filters that stand for security policies, the same in every chain of a workload: RBAC reads the port of a connection itself. */
export interface SecurityFilters<Filter> {
  /** External authorisation (CUSTOM). */
  readonly custom: readonly Filter[];
  /** JSON web tokens; nothing in TCP chains. */
  readonly authentication: readonly Filter[];
  /** AUDIT, DENY, ALLOW. */
  readonly authorization: readonly Filter[];
}

/**
 * Filters that policies and extensions add to chains. Each list is complete and in order; the chain decides where it goes.
 * @see docs/how-istio-does-it/listeners.md#network-filters
 * @see docs/how-istio-does-it/listeners.md#http-filters
 */
export interface PolicyFilters {
  readonly http: SecurityFilters<HttpFilterJson>;
  readonly tcp: SecurityFilters<FilterJson>;
  /** The same in front of hosts that are resolved at run time, by namespace of their services where it is a third one. */
  readonly called: ReadonlyMap<string, SecurityFilters<FilterJson>>;
  /** Extensions in connection managers. */
  httpExtensions(phase: ExtensionPhase, place: ChainPlace): readonly HttpFilterJson[];
  /** Extensions in filter chains, before a connection manager or TCP proxy. */
  networkExtensions(phase: ExtensionPhase, place: ChainPlace): readonly FilterJson[];
}

/** The filters of a class's policies and extensions. */
export function policyFilters(view: ListenerView): Stage<PolicyFilters> {
  const { policies, lookups, proxy, options } = view;
  const http = httpAuthorization(policies.authorization, lookups);
  const tcp = tcpAuthorization(policies.authorization, lookups);
  const called = [...view.calledPolicies].map(
    ([namespace, chosen]) => [namespace, tcpAuthorization(chosen, lookups)] as const,
  );
  const extensions = extensionsOf(policies, proxy.namespace);
  const chosen = (phase: ExtensionPhase, { class: listenerClass, port }: ChainPlace) => {
    const side = listenerClass === "inbound" ? "SERVER" : "CLIENT";
    return extensions.filter((one) => one.phase === phase && matchesPlace(one, { side, port }));
  };
  const tokens = jwtAuthentication(policies.requestAuthentication, {
    clearsRouteCache: proxy.type === "router",
    keySets: options.fetchesKeySets ? lookups : undefined,
  });
  return {
    value: {
      http: {
        custom: http.value.custom,
        authentication: tokens.value === undefined ? [] : [tokens.value],
        authorization: http.value.builtIn,
      },
      tcp: tcpFilters(tcp.value),
      called: new Map(called.map(([namespace, { value }]) => [namespace, tcpFilters(value)])),
      httpExtensions: (phase, place) => chosen(phase, place).flatMap((one) => httpExtension(one) ?? []),
      networkExtensions: (phase, place) => chosen(phase, place).flatMap((one) => networkExtension(one) ?? []),
    },
    diagnostics: [
      ...http.diagnostics,
      ...tcp.diagnostics,
      ...called.flatMap(([, { diagnostics }]) => diagnostics),
      ...tokens.diagnostics,
    ],
  };
}

function tcpFilters({ custom, builtIn }: AuthorizationFilters<FilterJson>): SecurityFilters<FilterJson> {
  return { custom, authentication: [], authorization: builtIn };
}
