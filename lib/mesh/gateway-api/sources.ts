import { byCodePoint } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { KubernetesBackend } from "../../config/gateway-api/backend.ts";
import type {
  BackendTLSPolicy,
  BackendTrafficPolicy,
  ReferenceGrant,
} from "../../config/gateway-api/backend-policy.ts";
import type { GatewayClass, KubernetesGateway, ListenerSet } from "../../config/gateway-api/gateway.ts";
import { defaultGatewayApiSettings, type GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import type { KubernetesHTTPRoute } from "../../config/gateway-api/http-route.ts";
import type { GRPCRoute, KubernetesTCPRoute, KubernetesTLSRoute } from "../../config/gateway-api/other-routes.ts";
import type { LabelSelector } from "../../config/kinds/selector.ts";
import type { ServiceEntry } from "../../config/kinds/service-entry.ts";
import type { Labels } from "../../config/values/labels.ts";
import { internList, internValue } from "../../incremental/keep-identity.ts";
import { lazily, remembered } from "../../incremental/lazy.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { selectsLabels } from "../../registry/kubernetes/namespace.ts";
import type { Form } from "../forms.ts";
import type { ServiceIndex } from "../index/service-index.ts";
import type { ReleaseRules } from "../release-rules.ts";
import { isConsidered } from "./backends/backend-policies.ts";
import type { NamedPort, PolicySource } from "./backends/policy-source.ts";
import { type Credentials, noCredentials } from "./credentials.ts";
import type { MadeGateway, MadeListenerSet } from "./gateway.ts";
import type { GrantSource, Grants } from "./grants.ts";
import type { MadeListener, RouteParent } from "./listeners/listener.ts";
import type { ListenerSource } from "./listeners/listener-source.ts";
import type { MadeRoute, RouteSource } from "./routes/route.ts";
import { backendRefsOf, parentRefsOf } from "./routes/route-kinds.ts";

/** What the objects of the Gateway API are converted with beside themselves. */
export interface GatewayApiWorld {
  readonly settings: GatewayApiSettings;
  readonly credentials: Credentials;
}

export const defaultGatewayApi: GatewayApiWorld = {
  settings: defaultGatewayApiSettings,
  credentials: noCredentials,
};

/** What stands around them. */
export interface GatewayApiContext {
  readonly api: GatewayApiWorld;
  readonly services: ServiceIndex;
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly domain: string;
  readonly rules: ReleaseRules;
  readonly form: Form;
}

/** All that there are, by kind, each oldest first. */
export interface GatewayApiObjects {
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
  /** undefined: they do not count. */
  readonly backends: readonly Config<KubernetesBackend>[] | undefined;
  readonly serviceEntries: readonly Config<ServiceEntry>[];
}

/** `namespace/name`. */
export const objectKey = ({ meta }: Config): string => `${meta.namespace}/${meta.name}`;

type GrantQuestion = GrantSource["isGranted"];

const grantQuestion =
  (grants: Grants): GrantQuestion =>
  (kind, namespace, toGroup, toKind, toNamespace, toName) =>
    grants({ kind, namespace }, { group: toGroup, kind: toKind, namespace: toNamespace, name: toName });

export function listenerSourceOf({ api, namespaces }: GatewayApiContext, grants: Grants, memo: Memo): ListenerSource {
  const { keyPairs, secretRoots, configMapRoots, clusterRoots } = api.credentials;
  const absent = api.settings.secrets === "elsewhere" ? "" : "not found";
  return {
    keyPairProblem: (namespace, name) => keyPairs.get(`${namespace}/${name}`) ?? absent,
    rootProblem: (kind, namespace, name) => {
      if (kind === "Secret") return secretRoots.get(`${namespace}/${name}`) ?? absent;
      const found = kind === "ConfigMap" ? configMapRoots.get(`${namespace}/${name}`) : clusterRoots.get(name);
      return found ?? "not found";
    },
    hasConfigMap: (namespace, name) =>
      configMapRoots.has(`${namespace}/${name}`) || api.settings.secrets === "elsewhere",
    isGranted: grantQuestion(grants),
    namespacesOf: (selector: LabelSelector) =>
      internValue(
        memo,
        [...namespaces]
          .filter(([name, labels]) => selectsLabels(selector, { ...labels, "kubernetes.io/metadata.name": name }))
          .map(([name]) => name)
          .sort(),
      ),
  };
}

interface RouteSurroundings {
  readonly backends: GatewayApiObjects["backends"];
  readonly serviceEntries: readonly Config<ServiceEntry>[];
  readonly gateways: readonly MadeGateway[];
  readonly listenerSets: readonly MadeListenerSet[];
  readonly services: ServiceIndex;
  readonly domain: string;
  readonly grants: Grants;
  readonly rules: ReleaseRules;
}

/** The same source as long as nothing that a route could ask for has changed: then no route has to ask again. */
export const routeSourceOf = query(
  "what routes of the Gateway API ask",
  (
    { backends, serviceEntries, gateways, listenerSets, services, domain, grants, rules }: RouteSurroundings,
    memo: Memo,
  ): RouteSource => {
    const parentsOf = (listeners: readonly MadeListener[]): readonly RouteParent[] =>
      internList(
        memo,
        listeners.filter(({ isAttachable }) => isAttachable).map(({ parent }) => parent),
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
      readsBackends: () => backends !== undefined,
      backend: (namespace, name) => backends?.find((config) => objectKey(config) === `${namespace}/${name}`)?.spec,
      hasHost: (namespace, hostname) => services.byHostname.get(hostname)?.has(namespace) === true,
      entryHosts: (namespace, name) => entries(`${namespace}/${name}`),
      statusWithoutBackends: () => rules.statusWithoutBackends,
      tcpRoutesAreStable: () => rules.tcpRoutesAreStable,
      isGranted: grantQuestion(grants),
    };
  },
);

const noParents: readonly RouteParent[] = [];

export function policySourceOf(
  { tlsPolicies, serviceEntries }: GatewayApiObjects,
  { api, services, domain, rules }: GatewayApiContext,
  routes: readonly MadeRoute[],
  memo: Memo,
): PolicySource {
  const { keyPairs, configMapRoots, clusterRoots } = api.credentials;
  const entries = new Map(serviceEntries.map((config) => [objectKey(config), config.spec]));
  const considered = tlsPolicies.filter(isConsidered);
  const gateways = gatewaysByBackend(routes);
  return {
    servicePorts: (namespace, name) => {
      const service = services.byHostname.get(`${name}.${namespace}.svc.${domain}`)?.get(namespace);
      if (service?.attributes.provider !== "Kubernetes") return undefined;
      return internValue(
        memo,
        service.ports.map(({ name: portName, port }): NamedPort => ({ name: portName, number: port })),
      );
    },
    entryHosts: (namespace, name) => entries.get(`${namespace}/${name}`)?.hosts,
    entryPorts: (namespace, name) => entries.get(`${namespace}/${name}`)?.ports ?? noPorts,
    hasSecret: (namespace, name) => keyPairs.has(`${namespace}/${name}`),
    keyPairProblem: (namespace, name) =>
      keyPairs.get(`${namespace}/${name}`) ?? (api.settings.secrets === "elsewhere" ? "" : "not found"),
    configMapRootProblem: (namespace, name) => configMapRoots.get(`${namespace}/${name}`) ?? "not found",
    clusterRootProblem: (name) => clusterRoots.get(name) ?? "not found",
    rival: (namespace, name, kind, target, section) => rivalOf(considered, { namespace, name, kind, target, section }),
    readsBudgetInterval: () => rules.readsBudgetIntervalOfBackendPolicies,
    gatewaysTo: (kind, namespace, name) =>
      internValue(memo, [...(gateways().get(`${kind}/${namespace}/${name}`) ?? [])].sort()),
  };
}

const noPorts: readonly NamedPort[] = [];

const policyGroups: ReadonlySet<string> = new Set(["", "networking.istio.io", "gateway.networking.x-k8s.io"]);

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
      for (const { group, kind, name, namespace = own } of backendRefsOf(route)) {
        // A policy has targets of these groups.
        if (!policyGroups.has(group)) continue;
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
