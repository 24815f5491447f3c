import type { FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { Stage } from "../../config/diagnostic.ts";
import type { Memo } from "../../mesh/memo.ts";
import type { ListenerView } from "../../mesh/views.ts";
import { httpAuthorization, tcpAuthorization } from "../security/authorization.ts";
import { jwtAuthentication } from "../security/jwt-authentication.ts";

/** Which listener a filter chain stands in: inbound of a sidecar, outbound of one, or a gateway. */
export type ListenerClass = "inbound" | "outbound" | "gateway";

/** Where a filter chain stands, as policies and extensions ask it. */
export interface ChainPlace {
  readonly class: ListenerClass;
  /** Port that the chain serves, 0 for pass-through chains. */
  readonly port: number;
}

/** The phases of an extension, in the order of a chain; `UNSPECIFIED` comes last, before the router. */
export type ExtensionPhase = "AUTHN" | "AUTHZ" | "STATS" | "UNSPECIFIED";

/**
 * Filters that policies and extensions add to chains. Each list is complete and in order; the chain decides where it goes.
 * @see xds-listeners 5.5, 7.3
 */
export interface PolicyFilters {
  /** External authorisation in connection managers (CUSTOM). */
  httpCustom(place: ChainPlace): readonly HttpFilterJson[];
  /** JSON web tokens. */
  httpAuthentication(place: ChainPlace): readonly HttpFilterJson[];
  /** AUDIT, DENY, ALLOW in connection managers. */
  httpAuthorization(place: ChainPlace): readonly HttpFilterJson[];
  /** External authorisation in TCP chains (CUSTOM). */
  tcpCustom(place: ChainPlace): readonly FilterJson[];
  /** AUDIT, DENY, ALLOW in TCP chains. */
  tcpAuthorization(place: ChainPlace): readonly FilterJson[];
  /** Extensions in connection managers. */
  httpExtensions(phase: ExtensionPhase, place: ChainPlace): readonly HttpFilterJson[];
  /** Extensions in filter chains, before a connection manager or TCP proxy. */
  networkExtensions(phase: ExtensionPhase, place: ChainPlace): readonly FilterJson[];
}

/**
 * The filters of a class's policies and extensions, each made once.
 * Policies do not ask about ports: RBAC reads the port of a connection when it comes.
 */
export function policyFilters(view: ListenerView, _memo: Memo): Stage<PolicyFilters> {
  const { policies, lookups, proxy } = view;
  const http = httpAuthorization(policies.authorization, lookups);
  const tcp = tcpAuthorization(policies.authorization, lookups);
  const tokens = jwtAuthentication(policies.requestAuthentication, proxy.type === "router");
  const authentication = tokens.value === undefined ? [] : [tokens.value];
  return {
    value: {
      httpCustom: () => http.value.custom,
      httpAuthentication: () => authentication,
      httpAuthorization: () => http.value.builtIn,
      tcpCustom: () => tcp.value.custom,
      tcpAuthorization: () => tcp.value.builtIn,
      httpExtensions: () => [],
      networkExtensions: () => [],
    },
    diagnostics: [...http.diagnostics, ...tcp.diagnostics, ...tokens.diagnostics],
  };
}
