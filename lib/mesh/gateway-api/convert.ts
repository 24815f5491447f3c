import type { Config } from "../../config/config.ts";
import { byCodePoint } from "../../config/diagnostic.ts";
import type {
  BackendTLSPolicy,
  BackendTrafficPolicy,
  ReferenceGrant,
} from "../../config/gateway-api/backend-policy.ts";
import type { GatewayClass, KubernetesGateway, ListenerSet } from "../../config/gateway-api/gateway.ts";
import { defaultGatewayApiSettings, type GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import type { KubernetesHTTPRoute } from "../../config/gateway-api/http-route.ts";
import type { GRPCRoute, KubernetesTCPRoute, KubernetesTLSRoute } from "../../config/gateway-api/other-routes.ts";
import type { DestinationRule } from "../../config/kinds/destination-rule.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { LabelSelector } from "../../config/kinds/selector.ts";
import type { ServiceEntry } from "../../config/kinds/service-entry.ts";
import type { VirtualService } from "../../config/kinds/virtual-service.ts";
import type { Labels } from "../../config/labels.ts";
import { selectsLabels } from "../../registry/kubernetes/namespace.ts";
import type { ConfigsOf } from "../index/configs-by-kind.ts";
import type { ServiceIndex } from "../index/service-index.ts";
import { lazily, remembered } from "../memo/lazy.ts";
import type { Memo } from "../memo/memo.ts";
import { oneList, oneValue, sameList } from "../memo/same.ts";
import { isConsidered, type MadePolicy, madeTlsPolicy, madeTrafficPolicy } from "./backend-policies.ts";
import { classOwners } from "./classes.ts";
import { type Credentials, noCredentials } from "./credentials.ts";
import { type MadeGateway, type MadeListenerSet, madeGateway, madeListenerSet } from "./gateway.ts";
import { type Grants, grantsOf } from "./grants.ts";
import type { MadeListener, RouteParent } from "./listener.ts";
import type { ListenerSource } from "./listener-source.ts";
import { destinationRulesOf } from "./policy-rules.ts";
import type { NamedPort, PolicySource } from "./policy-source.ts";
import { type MadeRoute, madeRoute, mergedParts, type RouteSource } from "./route.ts";
import { backendRefsOf, parentRefsOf, type RouteConfig } from "./route-kinds.ts";

/** What the objects of the Gateway API are converted with beside themselves. */
export interface GatewayApiWorld {
  readonly settings: GatewayApiSettings;
  readonly credentials: Credentials;
}

export const defaultGatewayApi: GatewayApiWorld = {
  settings: defaultGatewayApiSettings,
  credentials: noCredentials,
};

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

interface Surroundings {
  readonly api: GatewayApiWorld;
  readonly services: ServiceIndex;
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly domain: string;
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

interface GatewayApiObjects {
  readonly classes: readonly Config<GatewayClass>[];
  readonly gateways: readonly Config<KubernetesGateway>[];
  readonly listenerSets: readonly Config<ListenerSet>[];
  readonly httpRoutes: readonly Config<KubernetesHTTPRoute>[];
  readonly grpcRoutes: readonly Config<GRPCRoute>[];
  readonly tlsRoutes: readonly Config<KubernetesTLSRoute>[];
  readonly tcpRoutes: readonly Config<KubernetesTCPRoute>[];
  readonly grants: readonly Config<ReferenceGrant>[];
  readonly tlsPolicies: readonly Config<BackendTLSPolicy>[];
  readonly trafficPolicies: readonly Config<BackendTrafficPolicy>[];
  readonly serviceEntries: readonly Config<ServiceEntry>[];
}

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
  const source = routeSourceOf(objects, gateways, listenerSets, around, grants, memo);
  const routes = routesIn(objects).map((route) => madeRoute(memo, route, source));
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

const objectKey = ({ meta }: Config): string => `${meta.namespace}/${meta.name}`;

/** The Gateway that a ListenerSet is for; "" for none. */
function parentKey({ meta, spec }: Config<ListenerSet>): string {
  const { group, kind, name, namespace = meta.namespace } = spec.parentRef;
  return group === "gateway.networking.k8s.io" && kind === "Gateway" ? `${namespace}/${name}` : "";
}

type GrantQuestion = ListenerSource["isGranted"];

const grantQuestion =
  (grants: Grants): GrantQuestion =>
  (kind, namespace, toGroup, toKind, toNamespace, toName) =>
    grants({ kind, namespace }, { group: toGroup, kind: toKind, namespace: toNamespace, name: toName });

function listenerSourceOf({ api, namespaces }: Surroundings, grants: Grants, memo: Memo): ListenerSource {
  const { keyPairs, secretRoots, configMapRoots } = api.credentials;
  const absent = api.settings.secrets === "elsewhere" ? "" : "not found";
  return {
    keyPairProblem: (namespace, name) => keyPairs.get(`${namespace}/${name}`) ?? absent,
    rootProblem: (kind, namespace, name) =>
      kind === "Secret"
        ? (secretRoots.get(`${namespace}/${name}`) ?? absent)
        : (configMapRoots.get(`${namespace}/${name}`) ?? "not found"),
    isGranted: grantQuestion(grants),
    namespacesOf: (selector: LabelSelector) =>
      oneValue(
        memo,
        [...namespaces]
          .filter(([name, labels]) => selectsLabels(selector, { ...labels, "kubernetes.io/metadata.name": name }))
          .map(([name]) => name)
          .sort(),
      ),
  };
}

function routeSourceOf(
  { serviceEntries }: GatewayApiObjects,
  gateways: readonly MadeGateway[],
  listenerSets: readonly MadeListenerSet[],
  { services, domain }: Surroundings,
  grants: Grants,
  memo: Memo,
): RouteSource {
  const parentsOf = (listeners: readonly MadeListener[]): readonly RouteParent[] =>
    oneList(
      memo,
      listeners.map(({ parent }) => parent),
    );
  const parents = {
    Gateway: new Map(gateways.map((one) => [objectKey(one.config), parentsOf(one.listeners)])),
    ListenerSet: new Map(listenerSets.map((one) => [objectKey(one.config), parentsOf(one.listeners)])),
  };
  const entries = remembered((key: string) => serviceEntries.find((config) => objectKey(config) === key)?.spec.hosts);
  return {
    listenersOf: (kind, namespace, name) => parents[kind].get(`${namespace}/${name}`) ?? noParents,
    hasService: (namespace, name) =>
      services.byHostname.get(`${name}.${namespace}.svc.${domain}`)?.get(namespace)?.attributes.provider ===
      "Kubernetes",
    hasHost: (namespace, hostname) => services.byHostname.get(hostname)?.has(namespace) === true,
    entryHosts: (namespace, name) => entries(`${namespace}/${name}`),
    isGranted: grantQuestion(grants),
  };
}

const noParents: readonly RouteParent[] = [];

function policySourceOf(
  { tlsPolicies, serviceEntries }: GatewayApiObjects,
  { api, services, domain }: Surroundings,
  routes: readonly MadeRoute[],
  memo: Memo,
): PolicySource {
  const { keyPairs, configMapRoots } = api.credentials;
  const entries = new Map(serviceEntries.map((config) => [objectKey(config), config.spec]));
  const considered = tlsPolicies.filter(isConsidered);
  const gateways = gatewaysByBackend(routes);
  return {
    servicePorts: (namespace, name) => {
      const service = services.byHostname.get(`${name}.${namespace}.svc.${domain}`)?.get(namespace);
      if (service?.attributes.provider !== "Kubernetes") return undefined;
      return oneValue(
        memo,
        service.ports.map(({ name: portName, port }): NamedPort => ({ name: portName, number: port })),
      );
    },
    entryHosts: (namespace, name) => entries.get(`${namespace}/${name}`)?.hosts,
    entryPorts: (namespace, name) => entries.get(`${namespace}/${name}`)?.ports ?? noPorts,
    hasSecret: (namespace, name) => keyPairs.has(`${namespace}/${name}`),
    configMapRootProblem: (namespace, name) => configMapRoots.get(`${namespace}/${name}`) ?? "not found",
    rival: (namespace, name, kind, target, section) => rivalOf(considered, { namespace, name, kind, target, section }),
    gatewaysTo: (kind, namespace, name) =>
      oneValue(memo, [...(gateways().get(`${kind}/${namespace}/${name}`) ?? [])].sort()),
  };
}

const noPorts: readonly NamedPort[] = [];

/** Backend → `namespace/name` of the Gateways that its routes name, be they there or not. */
function gatewaysByBackend(routes: readonly MadeRoute[]): () => ReadonlyMap<string, ReadonlySet<string>> {
  return lazily(() => {
    const found = new Map<string, Set<string>>();
    for (const { route } of routes) {
      const own = route.config.meta.namespace;
      const gateways = parentRefsOf(route)
        .filter(({ group, kind }) => group === "gateway.networking.k8s.io" && kind === "Gateway")
        .map(({ name, namespace = own }) => `${namespace}/${name}`);
      if (gateways.length === 0) continue;
      for (const { kind, name, namespace = own } of backendRefsOf(route)) {
        const key = `${kind}/${namespace}/${name}`;
        const known = found.get(key) ?? new Set();
        found.set(key, known);
        for (const gateway of gateways) known.add(gateway);
      }
    }
    return found;
  });
}

interface RivalQuestion {
  readonly namespace: string;
  readonly name: string;
  readonly kind: string;
  readonly target: string;
  readonly section: string;
}

/** Of the policies for one target the oldest counts, and of those of one age the first by name. Objects that no server has are no rivals. */
function rivalOf(policies: readonly Config<BackendTLSPolicy>[], asked: RivalQuestion): string {
  const { namespace, name } = asked;
  const own = policies.find(({ meta }) => meta.namespace === namespace && meta.name === name);
  if (own === undefined) return "";
  const before = policies.find(
    ({ meta, spec }) =>
      meta.namespace === namespace &&
      meta.uid !== own.meta.uid &&
      spec.targetRefs.some(
        (ref) => ref.kind === asked.kind && ref.name === asked.target && (ref.sectionName ?? "") === asked.section,
      ) &&
      (meta.creationTimestampMs - own.meta.creationTimestampMs || byCodePoint(meta.name, name)) < 0,
  );
  return before?.meta.name ?? "";
}
