import type { Memo } from "../memo/memo.ts";
import { step } from "../memo/step.ts";
import { tracedStep } from "../memo/traced-step.ts";
import type { Mesh } from "../mesh.ts";
import { AskedWorkload, PatchedNode } from "./asked-proxy.ts";
import { classProxyOf } from "./class-proxy.ts";
import { type InboundSelection, selectInbound } from "./inbound-view.ts";
import { listenerOptionsOf, tlsFilesOf } from "./listener-options.ts";
import { type PatchSelection, selectPatches } from "./patch-selection.ts";
import { perspectiveOf } from "./perspective.ts";
import { labelsOf, type ProxyAnswers } from "./proxy-answers.ts";
import { type RuleSelection, selectRules } from "./rule-selection.ts";
import { readSelectorLabels } from "./selector-labels.ts";
import { tracingViewOf } from "./tracing-view.ts";
import type {
  ClassProxy,
  EndpointPerspective,
  ListenerOptions,
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
 * endpoints, and leave it as it is.
 */
export interface Selection {
  readonly proxy: ClassProxy;
  readonly rules: RuleSelection;
  readonly patches: PatchSelection;
  readonly inbound: InboundSelection;
  readonly perspective: EndpointPerspective;
  readonly policies: WorkloadPolicies;
  readonly tracing: TracingView;
  readonly options: ListenerOptions;
  /** Files for client certificates (`TLS_CLIENT_*`), by key; empty as a rule. */
  readonly tlsClientFiles: Readonly<Record<string, string>>;
}

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
    return {
      proxy: classProxyOf(lasting, node, memo),
      rules: selectRules(services, labels, memo),
      patches: selectPatches(lasting.envoyFilters(new PatchedNode(lasting, node, labels)), memo),
      inbound: selectInbound(lasting, node, services, workload, memo),
      perspective: perspectiveOf(lasting, node, services, memo),
      policies,
      tracing: tracingViewOf(lasting, node, policies.telemetry, memo),
      options: listenerOptionsOf(lasting, node, memo),
      tlsClientFiles: tlsFilesOf(node, "TLS_CLIENT"),
    };
  },
);
