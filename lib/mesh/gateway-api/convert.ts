import type { Config } from "../../config/config.ts";
import type { GatewayClass, KubernetesGateway, ListenerSet } from "../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import type { DestinationRule } from "../../config/kinds/destination-rule.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { VirtualService } from "../../config/kinds/virtual-service.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import type { ConfigsOf } from "../index/configs-by-kind.ts";
import type { ReleaseRules } from "../release-rules.ts";
import { type MadePolicy, madeTlsPolicy, madeTrafficPolicy } from "./backends/backend-policies.ts";
import { madeBackend } from "./backends/backend-resource.ts";
import { destinationRulesOf } from "./backends/policy-rules.ts";
import { classOwners } from "./classes.ts";
import { type MadeGateway, type MadeListenerSet, madeGateway, madeListenerSet, takesListeners } from "./gateway.ts";
import { type Grants, grantsOf } from "./grants.ts";
import { type GatewayConflicts, listenerConflicts, noConflicts } from "./listeners/listener-conflicts.ts";
import type { ListenerSource } from "./listeners/listener-source.ts";
import { type MadeRoute, mergedParts, routeAmong } from "./routes/route.ts";
import type { RouteConfig } from "./routes/route-kinds.ts";
import {
  type GatewayApiContext,
  type GatewayApiObjects,
  listenerSourceOf,
  objectKey,
  policySourceOf,
  routeSourceOf,
} from "./sources.ts";

/** The objects of the Gateway API as Istio's that they stand for. */
export interface ConvertedGatewayApi {
  readonly gateways: readonly Config<Gateway>[];
  readonly virtualServices: readonly Config<VirtualService>[];
  readonly destinationRules: readonly Config<DestinationRule>[];
  readonly parts: ConvertedParts;
}

/** What became of each object, for its status. */
export interface ConvertedParts {
  readonly classes: readonly Config<GatewayClass>[];
  readonly gateways: readonly MadeGateway[];
  readonly listenerSets: readonly MadeListenerSet[];
  readonly routes: readonly MadeRoute[];
  readonly policies: readonly MadePolicy[];
  /** Of Gateways in other clusters nothing is made, but they are told so. */
  readonly remoteGateways: readonly Config<KubernetesGateway>[];
  readonly remoteListenerSets: readonly { readonly config: Config<ListenerSet>; readonly className: string }[];
}

const nothing: ConvertedGatewayApi = {
  gateways: [],
  virtualServices: [],
  destinationRules: [],
  parts: {
    classes: [],
    gateways: [],
    listenerSets: [],
    routes: [],
    policies: [],
    remoteGateways: [],
    remoteListenerSets: [],
  },
};

function objectsIn(of: ConfigsOf, { alphaKinds }: GatewayApiSettings, rules: ReleaseRules): GatewayApiObjects {
  return {
    classes: of("GatewayClass.gateway.networking.k8s.io"),
    gateways: of("Gateway.gateway.networking.k8s.io"),
    listenerSets: of("ListenerSet.gateway.networking.k8s.io"),
    httpRoutes: of("HTTPRoute.gateway.networking.k8s.io"),
    grpcRoutes: of("GRPCRoute.gateway.networking.k8s.io"),
    tlsRoutes: of("TLSRoute.gateway.networking.k8s.io"),
    tcpRoutes: alphaKinds || rules.tcpRoutesAreStable ? of("TCPRoute.gateway.networking.k8s.io") : [],
    grants: of("ReferenceGrant.gateway.networking.k8s.io"),
    tlsPolicies: of("BackendTLSPolicy.gateway.networking.k8s.io"),
    trafficPolicies: alphaKinds ? of("XBackendTrafficPolicy.gateway.networking.x-k8s.io") : [],
    backends: alphaKinds ? of("XBackend.gateway.networking.x-k8s.io") : undefined,
    serviceEntries: of("ServiceEntry"),
  };
}

/**
 * Gateways and routes of the Gateway API as Gateways and virtual services. Each object is converted by a step of its own, which
 * is remembered by what it asked of the others, so that a change costs the objects that it can reach.
 *
 * @see docs/how-istio-does-it/gateway-api.md
 */
export function convertGatewayApi(of: ConfigsOf, around: GatewayApiContext, memo: Memo): ConvertedGatewayApi {
  const { settings } = around.api;
  const objects = objectsIn(of, settings, around.rules);
  const { serviceEntries: _others, ...own } = objects;
  if (Object.values(own).every((objects) => (objects ?? []).length === 0)) return nothing;
  const grants = grantsOf(memo, { configs: objects.grants });
  const parts = madeParts(objects, around, grants, memo);
  const listeners = [...parts.gateways, ...parts.listenerSets].flatMap((one) => one.listeners);
  return {
    gateways: listeners.filter(({ isValid, hasServer }) => isValid && hasServer).map(({ gateway }) => gateway),
    virtualServices: [
      ...parts.routes.flatMap(({ virtualServices }) => virtualServices),
      ...mergedParts(memo, parts.routes, around.form.grpcNamesakesLeftOut),
    ],
    destinationRules: destinationRulesOf(memo, parts.policies),
    parts,
  };
}

function madeParts(objects: GatewayApiObjects, around: GatewayApiContext, grants: Grants, memo: Memo): ConvertedParts {
  const { rules } = around;
  const { settings } = around.api;
  const ownerOf = classOwners(objects.classes, settings);
  const listenerSource = listenerSourceOf(around, grants, memo);
  const ours = objects.gateways.filter(({ spec }) => ownerOf(spec.gatewayClassName) === "ours");
  const conflictsOf = gatewayConflicts(ours, objects.listenerSets, rules, listenerSource);
  const gateways = ours.map((config) => {
    const conflicts = conflictsOf(config)?.ofGateway ?? noConflicts;
    return madeGateway(memo, { config, settings, rules, conflicts }, listenerSource).value;
  });
  const byKey = new Map(gateways.map((gateway) => [objectKey(gateway.config), gateway]));
  const remoteGateways = objects.gateways.filter(({ spec }) => ownerOf(spec.gatewayClassName) === "remote");
  const remote = new Map(remoteGateways.map((config) => [objectKey(config), config.spec.gatewayClassName]));
  const listenerSets = objects.listenerSets.flatMap((config): readonly MadeListenerSet[] => {
    const gateway = byKey.get(parentKey(config));
    if (gateway === undefined) return [];
    const conflicts = conflictsOf(gateway.config)?.ofListenerSets.get(config) ?? noConflicts;
    return [madeListenerSet(memo, { config, gateway, settings, rules, conflicts }, listenerSource).value];
  });
  const source = routeSourceOf(memo, {
    rules,
    backends: objects.backends,
    serviceEntries: objects.serviceEntries,
    gateways: keepList(memo, "gateways of the Gateway API", gateways),
    listenerSets: keepList(memo, "listener sets of the Gateway API", listenerSets),
    services: around.services,
    domain: around.domain,
    grants,
  });
  const routes = routesIn(objects).map(({ kind, config }) => routeAmong(memo, { kind, config, source }));
  return {
    classes: objects.classes,
    remoteGateways,
    remoteListenerSets: objects.listenerSets.flatMap((config) => {
      const className = remote.get(parentKey(config));
      return className === undefined ? [] : [{ config, className }];
    }),
    gateways: keepList(memo, "gateways of the Gateway API", gateways),
    listenerSets: keepList(memo, "listener sets of the Gateway API", listenerSets),
    routes: keepList(memo, "routes of the Gateway API", routes),
    policies: keepList(memo, "policies of the Gateway API", madePolicies(objects, around, routes, memo)),
  };
}

/** Those of each Gateway; undefined where the release knows none. */
function gatewayConflicts(
  gateways: readonly Config<KubernetesGateway>[],
  listenerSets: readonly Config<ListenerSet>[],
  { refusesConflictingListeners }: ReleaseRules,
  source: ListenerSource,
): (gateway: Config<KubernetesGateway>) => GatewayConflicts | undefined {
  if (!refusesConflictingListeners) return () => undefined;
  const byGateway = Map.groupBy(listenerSets, parentKey);
  const found = gateways.map((gateway) => {
    const attached = byGateway.get(objectKey(gateway)) ?? [];
    const taken = attached.filter(({ meta }) => takesListeners(gateway, meta.namespace, source));
    return [gateway, listenerConflicts(gateway, taken)] as const;
  });
  const conflicts = new Map(found);
  return (gateway) => conflicts.get(gateway);
}

function madePolicies(
  objects: GatewayApiObjects,
  around: GatewayApiContext,
  routes: readonly MadeRoute[],
  memo: Memo,
): readonly MadePolicy[] {
  const { tlsPolicies, trafficPolicies, backends = [] } = objects;
  if (tlsPolicies.length + trafficPolicies.length + backends.length === 0) return [];
  const source = policySourceOf(objects, around, routes, memo);
  return [
    ...tlsPolicies.map((config) => madeTlsPolicy(memo, { config }, source).value),
    ...trafficPolicies.map((config) => madeTrafficPolicy(memo, { config }, source).value),
    ...backends.map((config) => madeBackend(memo, { config }, source).value),
  ];
}

function routesIn({ httpRoutes, grpcRoutes, tlsRoutes, tcpRoutes }: GatewayApiObjects): readonly RouteConfig[] {
  return [
    ...httpRoutes.map((config): RouteConfig => ({ kind: "HTTPRoute", config })),
    ...grpcRoutes.map((config): RouteConfig => ({ kind: "GRPCRoute", config })),
    ...tlsRoutes.map((config): RouteConfig => ({ kind: "TLSRoute", config })),
    ...tcpRoutes.map((config): RouteConfig => ({ kind: "TCPRoute", config })),
  ];
}

/** The Gateway that a ListenerSet is for; "" for none. */
function parentKey({ meta, spec }: Config<ListenerSet>): string {
  const { group, kind, name, namespace = meta.namespace } = spec.parentRef;
  return group === "gateway.networking.k8s.io" && kind === "Gateway" ? `${namespace}/${name}` : "";
}
