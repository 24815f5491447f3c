import type { Config } from "../../config/config.ts";
import type { GatewayClass, KubernetesGateway, ListenerSet } from "../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import type { DestinationRule } from "../../config/kinds/destination-rule.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { VirtualService } from "../../config/kinds/virtual-service.ts";
import type { ConfigsOf } from "../index/configs-by-kind.ts";
import type { Memo } from "../memo/memo.ts";
import { sameList } from "../memo/same.ts";
import { type MadePolicy, madeTlsPolicy, madeTrafficPolicy } from "./backend-policies.ts";
import { classOwners } from "./classes.ts";
import { type MadeGateway, type MadeListenerSet, madeGateway, madeListenerSet } from "./gateway.ts";
import { type Grants, grantsOf } from "./grants.ts";
import { destinationRulesOf } from "./policy-rules.ts";
import { type MadeRoute, mergedParts, routeAmong } from "./route.ts";
import type { RouteConfig } from "./route-kinds.ts";
import {
  type GatewayApiObjects,
  listenerSourceOf,
  objectKey,
  policySourceOf,
  routeSourceOf,
  type Surroundings,
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

function objectsIn(of: ConfigsOf, { alphaKinds }: GatewayApiSettings): GatewayApiObjects {
  return {
    classes: of("GatewayClass.gateway.networking.k8s.io"),
    gateways: of("Gateway.gateway.networking.k8s.io"),
    listenerSets: of("ListenerSet.gateway.networking.k8s.io"),
    httpRoutes: of("HTTPRoute.gateway.networking.k8s.io"),
    grpcRoutes: of("GRPCRoute.gateway.networking.k8s.io"),
    tlsRoutes: of("TLSRoute.gateway.networking.k8s.io"),
    tcpRoutes: alphaKinds ? of("TCPRoute.gateway.networking.k8s.io") : [],
    grants: of("ReferenceGrant.gateway.networking.k8s.io"),
    tlsPolicies: of("BackendTLSPolicy.gateway.networking.k8s.io"),
    trafficPolicies: alphaKinds ? of("XBackendTrafficPolicy.gateway.networking.x-k8s.io") : [],
    serviceEntries: of("ServiceEntry"),
  };
}

/**
 * Gateways and routes of the Gateway API as Gateways and virtual services. Each object is converted by a step of its own, which
 * is remembered by what it asked of the others, so that a change costs the objects that it can reach.
 *
 * @see docs/how-istio-does-it/gateway-api.md
 */
export function convertGatewayApi(of: ConfigsOf, around: Surroundings, memo: Memo): ConvertedGatewayApi {
  const { settings } = around.api;
  const objects = objectsIn(of, settings);
  const { serviceEntries: _others, ...own } = objects;
  if (Object.values(own).every(({ length }) => length === 0)) return nothing;
  const grants = grantsOf(memo, { configs: objects.grants });
  const parts = madeParts(objects, around, grants, memo);
  const listeners = [...parts.gateways, ...parts.listenerSets].flatMap((one) => one.listeners);
  return {
    gateways: listeners.filter(({ isValid }) => isValid).map(({ gateway }) => gateway),
    virtualServices: [
      ...parts.routes.flatMap(({ virtualServices }) => virtualServices),
      ...mergedParts(memo, parts.routes),
    ],
    destinationRules: destinationRulesOf(memo, parts.policies),
    parts,
  };
}

function madeParts(objects: GatewayApiObjects, around: Surroundings, grants: Grants, memo: Memo): ConvertedParts {
  const { settings } = around.api;
  const ownerOf = classOwners(objects.classes, settings);
  const listenerSource = listenerSourceOf(around, grants, memo);
  const gateways = objects.gateways
    .filter(({ spec }) => ownerOf(spec.gatewayClassName) === "ours")
    .map((config) => madeGateway(memo, { config, settings }, listenerSource).value);
  const byKey = new Map(gateways.map((gateway) => [objectKey(gateway.config), gateway]));
  const remoteGateways = objects.gateways.filter(({ spec }) => ownerOf(spec.gatewayClassName) === "remote");
  const remote = new Map(remoteGateways.map((config) => [objectKey(config), config.spec.gatewayClassName]));
  const listenerSets = objects.listenerSets.flatMap((config): readonly MadeListenerSet[] => {
    const gateway = byKey.get(parentKey(config));
    return gateway === undefined ? [] : [madeListenerSet(memo, { config, gateway, settings }, listenerSource).value];
  });
  const source = routeSourceOf(memo, {
    serviceEntries: objects.serviceEntries,
    gateways: sameList(memo, "gateways of the Gateway API", gateways),
    listenerSets: sameList(memo, "listener sets of the Gateway API", listenerSets),
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
    gateways: sameList(memo, "gateways of the Gateway API", gateways),
    listenerSets: sameList(memo, "listener sets of the Gateway API", listenerSets),
    routes: sameList(memo, "routes of the Gateway API", routes),
    policies: sameList(memo, "policies of the Gateway API", madePolicies(objects, around, routes, memo)),
  };
}

function madePolicies(
  objects: GatewayApiObjects,
  around: Surroundings,
  routes: readonly MadeRoute[],
  memo: Memo,
): readonly MadePolicy[] {
  const { tlsPolicies, trafficPolicies } = objects;
  if (tlsPolicies.length + trafficPolicies.length === 0) return [];
  const source = policySourceOf(objects, around, routes, memo);
  return [
    ...tlsPolicies.map((config) => madeTlsPolicy(memo, { config }, source).value),
    ...trafficPolicies.map((config) => madeTrafficPolicy(memo, { config }, source).value),
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
