import type { Labels } from "../../config/values/labels.ts";
import type { Injection } from "../service.ts";
import type { Namespace } from "./namespace.ts";

export const injectLabel = "sidecar.istio.io/inject";
export const namespaceLabel = "istio-injection";
export const revisionLabel = "istio.io/rev";

/** Istio's injector never touches what runs here. @see istio 1.30.3 pkg/kube/inject/initializer.go, IgnoredNamespaces */
export const ignoredNamespaces: ReadonlySet<string> = new Set([
  "kube-system",
  "kube-public",
  "kube-node-lease",
  "local-path-storage",
]);

/** A pod that is to be made. */
export interface PodToBe {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly hostNetwork: boolean;
  readonly namespace: string;
}

/**
 * Whether Istio's webhook would give a pod a proxy. Any revision counts as the mesh's. A namespace that nobody describes is
 * taken for one that asks for injection, unless the control plane runs there: folders often leave that label to a command.
 *
 * @see docs/how-istio-does-it/nodes.md#who-is-injected
 * @see istio 1.30.3 pkg/kube/inject/inject.go, injectRequired
 * @see istio 1.30.3 manifests/charts/istio-control/istio-discovery/templates/mutatingwebhook.yaml
 */
export function injectionOf(pod: PodToBe, namespace: Namespace | undefined, systemNamespace: string): Injection {
  const { labels, annotations } = pod;
  if (pod.hostNetwork || ignoredNamespaces.has(pod.namespace)) return "no";
  if ((labels[injectLabel] ?? annotations[injectLabel]) === "false") return "no";
  const asks = labels[revisionLabel] !== undefined || labels[injectLabel] === "true";
  if (namespace === undefined) return asks ? "yes" : pod.namespace === systemNamespace ? "no" : "assumed";
  const { [namespaceLabel]: enabled, [revisionLabel]: revision } = namespace.labels;
  if (enabled !== undefined) return enabled === "enabled" ? "yes" : "no";
  return revision !== undefined || asks ? "yes" : "no";
}
