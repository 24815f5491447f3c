import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { HttpFilterJson } from "../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { Stage } from "../../../base/diagnostic.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { trackedQuery } from "../../../incremental/tracked-query.ts";
import type { OutboundListenerView, WorkloadPolicies } from "../../../mesh/views/views.ts";
import { type AuthorizationFilters, httpAuthorization, tcpAuthorization } from "../../security/authorization.ts";
import { jwtAuthentication } from "../../security/jwt-authentication.ts";
import type { ProviderLookups } from "../../telemetry/provider-cluster.ts";
import { httpExtension, networkExtension } from "../../wasm/extension-filter.ts";
import { type Extension, type ExtensionPhase, extensionsOf, matchesPlace } from "../../wasm/traffic-extension.ts";

/** Which listener a filter chain stands in: inbound of a sidecar, outbound of one, or a gateway. */
export type ListenerClass = "inbound" | "outbound" | "gateway";

/** Where a filter chain stands, as policies and extensions ask it. */
export interface ChainTarget {
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
  httpExtensions(phase: ExtensionPhase, chainTarget: ChainTarget): readonly HttpFilterJson[];
  /** Extensions in filter chains, before a connection manager or TCP proxy. */
  networkExtensions(phase: ExtensionPhase, chainTarget: ChainTarget): readonly FilterJson[];
}

type FilteredView = Pick<OutboundListenerView, "policies" | "calledPolicies" | "proxy" | "options">;

/** The filters of a class's policies and extensions: one object as long as they say the same. */
export function policyFilters(view: FilteredView, lookups: ProviderLookups, memo: Memo): Stage<PolicyFilters> {
  const { policies, calledPolicies, proxy, options } = view;
  const { authorization, requestAuthentication, wasmPlugins, trafficExtensions } = policies;
  const http = httpFilters(memo, { policies: authorization }, lookups).value;
  const tcp = tcpFilters(memo, { policies: authorization }, lookups).value;
  const called = [...calledPolicies.values()].map((chosen) => tcpFilters(memo, { policies: chosen }, lookups).value);
  const tokenOptions = { clearsRouteCache: proxy.type === "router", fetches: options.fetchesKeySets };
  const tokens = tokenFilter(memo, { policies: requestAuthentication, ...tokenOptions }, lookups).value;
  return {
    value: filtersOf(memo, {
      http: http.value,
      tcp: tcp.value,
      tokens: tokens.value,
      extensions: extensions(memo, { wasmPlugins, trafficExtensions, namespace: proxy.namespace }),
      namespaces: [...calledPolicies.keys()],
      called: called.map(({ value }) => value),
    }),
    diagnostics: [http, tcp, ...called, tokens].flatMap(({ diagnostics }) => diagnostics),
  };
}

interface Authorization {
  readonly policies: WorkloadPolicies["authorization"];
}

const httpFilters = trackedQuery(
  "HTTP filters of authorization policies",
  ({ policies }: Authorization, lookups: ProviderLookups) => httpAuthorization(policies, lookups),
);

const tcpFilters = trackedQuery(
  "TCP filters of authorization policies",
  ({ policies }: Authorization, lookups: ProviderLookups) => tcpAuthorization(policies, lookups),
);

interface Authentication {
  readonly policies: WorkloadPolicies["requestAuthentication"];
  readonly clearsRouteCache: boolean;
  readonly fetches: boolean;
}

const tokenFilter = trackedQuery(
  "filter of request authentications",
  ({ policies, clearsRouteCache, fetches }: Authentication, lookups: ProviderLookups) =>
    jwtAuthentication(policies, { clearsRouteCache, keySets: fetches ? lookups : undefined }),
);

interface ExtensionInputs extends Pick<WorkloadPolicies, "wasmPlugins" | "trafficExtensions"> {
  readonly namespace: string;
}

const extensions = query("extensions of a workload", ({ namespace, ...objects }: ExtensionInputs) =>
  extensionsOf(objects, namespace),
);

interface Inputs {
  readonly http: AuthorizationFilters<HttpFilterJson>;
  readonly tcp: AuthorizationFilters<FilterJson>;
  readonly tokens: HttpFilterJson | undefined;
  readonly extensions: readonly Extension[];
  /** Of hosts that are resolved at run time, and what their policies say. */
  readonly namespaces: readonly string[];
  readonly called: readonly AuthorizationFilters<FilterJson>[];
}

const filtersOf = query(
  "filters of policies and extensions",
  { namespaces: "value", called: "elements" },
  ({ http, tcp, tokens, extensions, namespaces, called }: Inputs): PolicyFilters => {
    const chosen = (phase: ExtensionPhase, { class: listenerClass, port }: ChainTarget): readonly Extension[] => {
      // Asked four times for each chain, and hardly anybody has any.
      if (extensions.length === 0) return extensions;
      const side = listenerClass === "inbound" ? "SERVER" : "CLIENT";
      return extensions.filter((one) => one.phase === phase && matchesPlace(one, { side, port }));
    };
    return {
      http: {
        custom: http.custom,
        authentication: tokens === undefined ? [] : [tokens],
        authorization: http.builtIn,
      },
      tcp: withoutTokens(tcp),
      called: new Map(called.map((filters, at) => [namespaces[at] ?? "", withoutTokens(filters)])),
      httpExtensions: (phase, chainTarget) => chosen(phase, chainTarget).flatMap((one) => httpExtension(one) ?? []),
      networkExtensions: (phase, chainTarget) =>
        chosen(phase, chainTarget).flatMap((one) => networkExtension(one) ?? []),
    };
  },
);

function withoutTokens({ custom, builtIn }: AuthorizationFilters<FilterJson>): SecurityFilters<FilterJson> {
  return { custom, authentication: [], authorization: builtIn };
}
