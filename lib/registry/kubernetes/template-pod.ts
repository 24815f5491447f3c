import { fieldsOf, listOf, stringsOf, textOf } from "../../base/untyped.ts";
import { templateOf } from "../../config/kubernetes/pod-template.ts";
import { isNonEmptySubset } from "../../config/values/labels.ts";
import type { ClusterIndex, TemplatePod } from "./cluster-index.ts";
import { injectionOf } from "./injection.ts";
import { type KubernetesObject, objectNamespace } from "./object.ts";
import { type Pod, podOf } from "./pods/pod.ts";

/**
 * The address of pods that are known only from a workload's template. No pod has it: it names a documentation range as a whole.
 * @see https://www.rfc-editor.org/rfc/rfc5737
 */
export const templatePodAddress = "192.0.2.0";

/** Whether a workload makes pods itself: a ReplicaSet of a Deployment leaves that to its owner. */
export function makesPods(object: KubernetesObject): boolean {
  const isOwned = listOf(object.metadata.ownerReferences).some((owner) => fieldsOf(owner).controller === true);
  return !isOwned && templateOf(object).spec !== undefined;
}

/** Says of which workloads of a namespace some pod is known: one that it owns, or that its selector selects. */
export function knownWorkloads(pods: readonly Pod[]): (template: KubernetesObject) => boolean {
  const owners = new Set(pods.map(({ workload: { pod } }) => `${pod?.owner.kind}/${pod?.owner.name}`));
  return ({ kind, metadata, spec }) => {
    if (owners.has(`${kind}/${metadata.name}`)) return true;
    const selector = stringsOf(fieldsOf(fieldsOf(spec).selector).matchLabels);
    return pods.some(({ workload }) => isNonEmptySubset(selector, workload.labels));
  };
}

/**
 * The pod that a workload's template describes, as the registry sees pods: everything but where it runs.
 *
 * @param name that it goes by; a StatefulSet's first pod really is called so
 */
export function templatePodOf(template: KubernetesObject, name: string, index: ClusterIndex): TemplatePod {
  const { metadata, spec: written } = templateOf(template);
  const { labels, annotations } = fieldsOf(metadata);
  const namespace = objectNamespace(template);
  const spec = fieldsOf(written);
  const account = textOf(spec.serviceAccountName) || textOf(spec.serviceAccount) || "default";
  const { apiVersion, kind, origin } = template;
  const object: KubernetesObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels,
      annotations,
      generateName: `${template.metadata.name}-`,
      ownerReferences: [{ apiVersion, kind, name: template.metadata.name, controller: true }],
    },
    // The API server writes the account into every pod.
    spec: { ...spec, serviceAccountName: account },
    status: { podIP: templatePodAddress },
    origin,
  };
  const injection = injectionOf(
    {
      labels: stringsOf(labels),
      annotations: stringsOf(annotations),
      hostNetwork: spec.hostNetwork === true,
      namespace,
    },
    index.namespaces.get(namespace),
    index.context.systemNamespace,
  );
  const pod = podOf(object, undefined, index.settings);
  const { workload } = pod;
  const facts = workload.pod === undefined ? {} : { pod: { ...workload.pod, injection } };
  return { template, pod: { ...pod, workload: { ...workload, ...facts } } };
}
