import { byCodePoint } from "../../base/diagnostic.ts";
import { type KeyServer, keyServerOf } from "../../config/kinds/remote-keys.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { Mesh } from "../mesh.ts";
import { ownClusterView } from "./cluster-views.ts";
import { type InboundSelection, selectInbound } from "./listeners/inbound-view.ts";
import { listenerOptionsOf, tlsFilesOf } from "./listeners/listener-options.ts";
import { tracingViewOf } from "./listeners/tracing-view.ts";
import { onePolicies } from "./listeners/workload-policies.ts";
import { selectPatches } from "./patch-selection.ts";
import { perspectiveOf } from "./perspective.ts";
import { classProxyOf, forTables } from "./proxies/class-proxy.ts";
import { labelsOf, type ProxyAnswers } from "./proxies/proxy-answers.ts";
import { readSelectorLabels } from "./proxies/selector-labels.ts";
import { PatchedNode, TrackedWorkload } from "./proxies/tracked-workload.ts";
import { type RuleSelection, selectRules } from "./rule-selection.ts";
import { selfDiscoveryOf } from "./self-discovery.ts";
import type {
  ClassProxy,
  EndpointPerspective,
  EnvoyFilterPatches,
  ListenerOptions,
  OwnClusterView,
  ServiceScope,
  TracingView,
  WorkloadPolicies,
} from "./views.ts";

/** What of a mesh neither virtual services nor endpoints change. */
export type LastingMesh = Pick<
  Mesh,
  "config" | "form" | "proxyBuild" | "services" | "peerAuthentication" | "policies" | "envoyFilters" | "networks"
>;

/** Of a mesh; one object for all meshes in which they are the same. */
export function lastingMesh(mesh: Mesh, memo: Memo): LastingMesh {
  const { config, form, proxyBuild, services, peerAuthentication, policies, envoyFilters, networks } = mesh;
  return lastingParts(memo, {
    config,
    form,
    proxyBuild,
    services,
    peerAuthentication,
    policies,
    envoyFilters,
    networks,
  });
}

const lastingParts = query("lasting parts of a mesh", (parts: LastingMesh): LastingMesh => parts);

/**
 * What is selected for an Envoy by what it is, by policies and by its services: most changes of a mesh are of virtual services and of
 * endpoints, and leave it as it is. In parts, each of which many proxies have in common.
 */
export interface Selection {
  readonly proxy: ClassProxy;
  readonly outbound: OutboundSelection;
  readonly own: OwnClusterView;
  readonly listening: ListeningSelection;
  readonly routing: RoutingSelection;
}

/** What the clusters and endpoints of services read. */
export interface OutboundSelection {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly perspective: EndpointPerspective;
  /** Files for client certificates (`TLS_CLIENT_*`), by key; empty as a rule. */
  readonly tlsClientFiles: Readonly<Record<string, string>>;
}

const outboundSelection = query(
  "outward selection",
  { tlsClientFiles: "value" },
  (selection: OutboundSelection): OutboundSelection => selection,
);

/** What listeners read. */
export interface ListeningSelection {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly patches: EnvoyFilterPatches;
  readonly inbound: InboundSelection["view"];
  readonly policies: WorkloadPolicies;
  readonly tracing: TracingView;
  readonly options: ListenerOptions;
}

const listeningSelection = query(
  "listening selection",
  (selection: ListeningSelection): ListeningSelection => selection,
);

/** What route tables read. */
export interface RoutingSelection {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly patches: EnvoyFilterPatches;
  readonly httpProxyPort: number;
}

const routingSelection = query("routing selection", (selection: RoutingSelection): RoutingSelection => selection);

const noKeyServers: readonly KeyServer[] = [];

/** Whom proxies ask for the keys of these, each once. */
function keyServersOf(policies: WorkloadPolicies["requestAuthentication"]): readonly KeyServer[] {
  const found = policies.flatMap((policy) =>
    (policy.spec.jwtRules ?? []).flatMap((rule) => keyServerOf(policy, rule) ?? []),
  );
  if (found.length === 0) return noKeyServers;
  return [...new Map(found.map((one) => [`${one.host} ${one.port}`, one]))]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([, one]) => one);
}

interface SelectionInputs {
  readonly lasting: LastingMesh;
  readonly services: ServiceScope;
}

export const selectionOf = trackedQuery(
  "selection of a proxy",
  ({ lasting, services }: SelectionInputs, node: ProxyAnswers, memo: Memo): Selection => {
    const labels = labelsOf(node);
    // A pod with the same labels that nobody knows yet backs the same services.
    readSelectorLabels(lasting, node, memo);
    const { rootNamespace } = lasting.config;
    const workload = new TrackedWorkload(node, { labels, rootNamespace, sidecar: services.sidecar });
    const policies = onePolicies(lasting.policies(workload), memo);
    const proxy = classProxyOf(lasting, node, services, memo);
    const rules = selectRules(services, labels, memo);
    const patches = selectPatches(lasting.envoyFilters(new PatchedNode(lasting, node, labels)), memo);
    const inbound = selectInbound(lasting, node, services, workload, memo);
    const perspective = perspectiveOf(lasting, node, services, memo);
    const tracing = tracingViewOf(lasting, node, policies.telemetry, memo);
    const options = listenerOptionsOf(lasting, node, memo);
    const tlsClientFiles = tlsFilesOf(node, "TLS_CLIENT");
    return {
      proxy,
      outbound: outboundSelection(memo, { proxy, rules, perspective, tlsClientFiles }),
      own: ownClusterView(memo, {
        proxy,
        patches: patches.clusters,
        inbound: inbound.served,
        self: selfDiscoveryOf(node, memo),
        keyServers: options.fetchesKeySets ? keyServersOf(policies.requestAuthentication) : noKeyServers,
      }),
      listening: listeningSelection(memo, {
        proxy,
        rules,
        patches: patches.listeners,
        inbound: inbound.view,
        policies,
        tracing,
        options,
      }),
      routing: routingSelection(memo, {
        proxy: forTables(proxy, memo),
        rules,
        patches: patches.routes,
        httpProxyPort: options.httpProxyPort,
      }),
    };
  },
);
