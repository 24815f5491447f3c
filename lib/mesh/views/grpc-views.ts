/**
 * What applies to a program that speaks xDS itself, reduced to one view per type. Much less than of an Envoy: filters that operators write,
 * telemetry, tokens and gateways are nothing to it, and so tell no two of them apart.
 * @see docs/proxies.md#programs-that-speak-xds-themselves
 */
import type { Config } from "../../config/config.ts";
import type { AuthorizationPolicy } from "../../config/kinds/authorization-policy.ts";
import type { Labels } from "../../config/values/labels.ts";
import { internList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { tlsModeLabel } from "../../registry/labels.ts";
import type { Form } from "../forms.ts";
import type { Mesh } from "../mesh.ts";
import { serviceScopeOf } from "../scope/scope-for.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { endpointView, outboundClusterView } from "./cluster-views.ts";
import { selectInbound } from "./listeners/inbound-view.ts";
import { objectNames } from "./object-names.ts";
import { perspectiveOf } from "./perspective.ts";
import { grpcProxyOf } from "./proxies/class-proxy.ts";
import type { ProxyAnswers } from "./proxies/proxy-answers.ts";
import { sourceLabelsOf } from "./proxies/source-labels.ts";
import type { TrackedWorkload } from "./proxies/tracked-workload.ts";
import { routeView } from "./route-view.ts";
import { selectRules } from "./rule-selection.ts";
import { type InputNames, itself, sameForAll, viewKey } from "./view-key.ts";
import type {
  ClassProxy,
  EndpointView,
  EnvoyFilterPatches,
  InboundView,
  OutboundClusterView,
  RouteView,
  ServiceLookups,
  ServiceScope,
  View,
} from "./views.ts";

/** CDS. */
export interface GrpcClusterView extends View {
  readonly outbound: OutboundClusterView;
  /** Balancers that programs refuse stay. */
  readonly sendsRefusals: boolean;
}

/** LDS: what it may call, and what it serves. */
export interface GrpcListenerView extends View {
  readonly proxy: ClassProxy;
  readonly lookups: ServiceLookups;
  readonly scope: ServiceScope;
  readonly inbound: InboundView;
  /** Root namespace's first, then the workload's; oldest first within each. */
  readonly authorization: readonly Config<AuthorizationPolicy>[];
  /** It says that it takes mutual TLS, so that callers may choose it. */
  readonly takesMutualTls: boolean;
  /** Addresses of its own that it may listen at; none where only those count that stand for all. */
  readonly ownAddresses: readonly string[];
  readonly policiesOpen: boolean;
}

/** RDS. */
export interface GrpcRouteView extends View {
  readonly view: RouteView;
  readonly wholePorts: boolean;
  readonly sendsRefusals: boolean;
}

export interface GrpcViews {
  readonly kind: "grpc";
  readonly clusters: GrpcClusterView;
  readonly endpoints: EndpointView;
  readonly listeners: GrpcListenerView;
  readonly routes: GrpcRouteView;
  readonly diagnostics: readonly [];
}

/** What selecting has found already, for any node. */
interface Found {
  readonly labels: Labels;
  readonly scope: SidecarScope;
  readonly workload: TrackedWorkload;
}

export function grpcViews(mesh: Mesh, node: ProxyAnswers, { labels, scope, workload }: Found, memo: Memo): GrpcViews {
  const { form, lookups, serviceLookups } = mesh;
  const services = serviceScopeOf(scope, memo);
  const proxy = grpcProxyOf(node, memo);
  const rules = selectRules(scope, labels, memo);
  const perspective = perspectiveOf(mesh, node, scope, memo);
  const { view: inbound } = selectInbound(mesh, node, services, workload, memo);
  const serves = inbound.targets.length > 0;
  const clusters = outboundClusterView(memo, {
    proxy,
    rules,
    lookups,
    scope: services,
    perspective,
    containsAutoPassthrough: false,
    tlsClientFiles: {},
  });
  const routes = routeView(memo, {
    proxy,
    rules,
    lookups: serviceLookups,
    scope,
    sourceLabels: sourceLabelsOf(scope, undefined, labels, memo),
    patches: noPatches,
    gateway: undefined,
    httpProxyPort: 0,
  });
  return {
    kind: "grpc",
    clusters: clusterView(memo, { outbound: clusters, form }),
    endpoints: endpointView({ lookups, scope: services, rules, perspective }, memo),
    listeners: listenerView(memo, {
      proxy,
      lookups: serviceLookups,
      scope: services,
      inbound,
      authorization: internList(memo, serves ? mesh.policies(workload).authorization : []),
      takesMutualTls: serves && node.label(tlsModeLabel) === "istio",
      ownAddresses: serves && form.grpcOwnAddresses ? node.addresses : [],
      form,
    }),
    routes: grpcRouteView(memo, {
      view: routes,
      wholePorts: form.grpcTablesOfWholePorts && !mesh.config.rules.grpcTablesOfAskedHost,
      sendsRefusals: form.grpcRefusalsSent,
    }),
    diagnostics: [],
  };
}

const noPatches: EnvoyFilterPatches = { patches: [] };

const clusterView = query(
  "gRPC cluster view",
  ({ outbound, form }: Pick<GrpcClusterView, "outbound"> & { readonly form: Form }): GrpcClusterView => ({
    key: outbound.key,
    outbound,
    sendsRefusals: form.grpcRefusalsSent,
  }),
);

const grpcRouteView = query(
  "gRPC route view",
  (of: Omit<GrpcRouteView, "key">): GrpcRouteView => ({ ...of, key: of.view.key }),
);

interface ListenerInputs extends Omit<GrpcListenerView, "key" | "inbound" | "policiesOpen"> {
  readonly inbound: InboundView & View;
  readonly form: Form;
}

const listenerNames: InputNames<ListenerInputs> = {
  proxy: itself,
  lookups: sameForAll,
  scope: ({ id }) => id,
  inbound: ({ key }) => key(),
  authorization: objectNames,
  takesMutualTls: itself,
  ownAddresses: itself,
  form: sameForAll,
};

const listenerView = query(
  "gRPC listener view",
  { ownAddresses: "value" },
  (inputs: ListenerInputs): GrpcListenerView => {
    const { form, ...fields } = inputs;
    return { ...fields, key: viewKey(listenerNames, inputs), policiesOpen: form.grpcPoliciesOpen };
  },
);
