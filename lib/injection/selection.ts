import type { Labels } from "../config/values/labels.ts";
import { ignoredNamespaces, injectLabel } from "../registry/kubernetes/injection.ts";
import { selectsLabels } from "../registry/kubernetes/namespace.ts";
import { annotationsOf, labelsOf, type Pod } from "./pod.ts";
import type { InjectionSelector, InjectionValues } from "./values.ts";

/**
 * Says why a pod gets no proxy. Namespaces and revisions are chosen by the selectors of the webhook's configuration, before that.
 *
 * @returns undefined for one that gets it
 * @see istio 1.30.3 pkg/kube/inject/inject.go, injectRequired
 */
export function whyNotInjected(
  pod: Pod,
  namespace: string,
  { sidecarInjectorWebhook }: Pick<InjectionValues, "sidecarInjectorWebhook">,
): string | undefined {
  if (pod.spec.hostNetwork === true) return "has host networking enabled";
  if (ignoredNamespaces.has(namespace)) return `is in ${namespace}, where no proxy is injected`;
  const labels = labelsOf(pod);
  const said = labels[injectLabel] ?? annotationsOf(pod)[injectLabel];
  if (said === "true") return undefined;
  if (said === "false") return "has sidecar injection disabled";
  // With the policy `enabled`, which is the only one here, alwaysInjectSelector adds nothing.
  const isNever = sidecarInjectorWebhook.neverInjectSelector.some((selector) => selects(selector, labels));
  return isNever ? "is selected by neverInjectSelector" : undefined;
}

/** An empty selector selects nothing. */
const selects = (selector: InjectionSelector, labels: Labels): boolean =>
  Object.keys(selector.matchLabels).length + selector.matchExpressions.length > 0 && selectsLabels(selector, labels);
