import type { Memo } from "../memo/memo.ts";
import { step } from "../memo/step.ts";
import { tracedStep } from "../memo/traced-step.ts";
import type { Mesh } from "../mesh.ts";
import { AskedWorkload, PatchedNode } from "./asked-proxy.ts";
import { classProxyOf } from "./class-proxy.ts";
import { ownClusterView } from "./cluster-views.ts";
import { type InboundSelection, selectInbound } from "./inbound-view.ts";
import { listenerOptionsOf, tlsFilesOf } from "./listener-options.ts";
import { selectPatches } from "./patch-selection.ts";
import { perspectiveOf } from "./perspective.ts";
import { labelsOf, type ProxyAnswers } from "./proxy-answers.ts";
import { type RuleSelection, selectRules } from "./rule-selection.ts";
import { readSelectorLabels } from "./selector-labels.ts";
import { tracingViewOf } from "./tracing-view.ts";
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
import { onePolicies } from "./workload-policies.ts";

/** What of a mesh neither virtual services nor endpoints change. */
export type LastingMesh = Pick<
  Mesh,
  "config" | "form" | "services" | "peerAuthentication" | "policies" | "envoyFilters" | "networks"
>;

/** Of a mesh; one object for all meshes in which they are the same. */
export function lastingMesh(mesh: Mesh, memo: Memo): LastingMesh {
  const { config, form, services, peerAuthentication, policies, envoyFilters, networks } = mesh;
  return lastingParts(memo, { config, form, services, peerAuthentication, policies, envoyFilters, networks });
}

const lastingParts = step(
  "lasting parts of a mesh",
  {
    config: "identity",
    form: "identity",
    services: "identity",
    peerAuthentication: "identity",
    policies: "identity",
    envoyFilters: "identity",
    networks: "identity",
  },
  (parts: LastingMesh): LastingMesh => parts,
);

/**
 * What is selected for an Envoy by what it is, by policies and by its services: most changes of a mesh are of virtual services and of
 * endpoints, and leave it as it is. In parts, each of which many proxies have in common.
 */
export interface Selection {
  readonly proxy: ClassProxy;
  readonly outward: OutwardSelection;
  readonly own: OwnClusterView;
  readonly listening: ListeningSelection;
  readonly routing: RoutingSelection;
}

/** What the clusters and endpoints of services read. */
export interface OutwardSelection {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly perspective: EndpointPerspective;
  /** Files for client certificates (`TLS_CLIENT_*`), by key; empty as a rule. */
  readonly tlsClientFiles: Readonly<Record<string, string>>;
}

const outwardSelection = step(
  "outward selection",
  { proxy: "identity", rules: "identity", perspective: "identity", tlsClientFiles: "value" },
  (selection: OutwardSelection): OutwardSelection => selection,
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

const listeningSelection = step(
  "listening selection",
  {
    proxy: "identity",
    rules: "identity",
    patches: "identity",
    inbound: "identity",
    policies: "identity",
    tracing: "identity",
    options: "identity",
  },
  (selection: ListeningSelection): ListeningSelection => selection,
);

/** What route tables read. */
export interface RoutingSelection {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly patches: EnvoyFilterPatches;
  readonly httpProxyPort: number;
}

const routingSelection = step(
  "routing selection",
  { proxy: "identity", rules: "identity", patches: "identity", httpProxyPort: "value" },
  (selection: RoutingSelection): RoutingSelection => selection,
);

interface SelectionInputs {
  readonly lasting: LastingMesh;
  readonly services: ServiceScope;
}

export const selectionOf = tracedStep(
  "selection of a proxy",
  { lasting: "identity", services: "identity" },
  ({ lasting, services }: SelectionInputs, node: ProxyAnswers, memo: Memo): Selection => {
    const labels = labelsOf(node);
    // A pod with the same labels that nobody knows yet backs the same services.
    readSelectorLabels(lasting, node, memo);
    const { rootNamespace } = lasting.config;
    const workload = new AskedWorkload(node, { labels, rootNamespace, sidecar: services.sidecar });
    const policies = onePolicies(lasting.policies(workload), memo);
    const proxy = classProxyOf(lasting, node, memo);
    const rules = selectRules(services, labels, memo);
    const patches = selectPatches(lasting.envoyFilters(new PatchedNode(lasting, node, labels)), memo);
    const inbound = selectInbound(lasting, node, services, workload, memo);
    const perspective = perspectiveOf(lasting, node, services, memo);
    const tracing = tracingViewOf(lasting, node, policies.telemetry, memo);
    const options = listenerOptionsOf(lasting, node, memo);
    const tlsClientFiles = tlsFilesOf(node, "TLS_CLIENT");
    return {
      proxy,
      outward: outwardSelection(memo, { proxy, rules, perspective, tlsClientFiles }),
      own: ownClusterView(memo, { proxy, patches: patches.clusters, inbound: inbound.served }),
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
        proxy,
        rules,
        patches: patches.routes,
        httpProxyPort: options.httpProxyPort,
      }),
    };
  },
);
