import { byCodePoint } from "../../base/diagnostic.ts";
import { templateKinds } from "../../config/kubernetes/pod-template.ts";
import { type ClusterIndex, discovered, type TemplatePod } from "./cluster-index.ts";
import { type KubernetesObject, objectKey, objectNamespace } from "./object.ts";
import { type KindChanges, noChanges } from "./object-changes.ts";
import type { Pod } from "./pods/pod.ts";
import { type PodsUpdate, samePod } from "./pods/pod-index.ts";
import { knownWorkloads, makesPods, templatePodOf } from "./template-pod.ts";

/** The indexes of workload templates after a change. */
export interface TemplatePodsUpdate {
  readonly templates: ClusterIndex["templates"];
  readonly templatePods: ClusterIndex["templatePods"];
  /** Before and after, of those that mean something else now. */
  readonly changed: readonly Pod[];
}

/** Files the workloads that came, and lets those stand for their pods of which no pod is known. */
export function updateTemplatePods(index: ClusterIndex, changes: KindChanges, pods: PodsUpdate): TemplatePodsUpdate {
  const { templates, touched } = updateTemplates(index, changes);
  for (const pod of pods.changed) if (templates.has(pod.workload.namespace)) touched.add(pod.workload.namespace);
  if (touched.size === 0) return { templates, templatePods: index.templatePods, changed: [] };
  const templatePods = new Map(index.templatePods);
  const changed: Pod[] = [];
  for (const namespace of touched) {
    const before = index.templatePods.get(namespace) ?? new Map<string, TemplatePod>();
    const known = [...(pods.podsByNamespace.get(namespace)?.values() ?? [])];
    const after = namespaceStandIns(index, [...(templates.get(namespace)?.values() ?? [])], known, before);
    const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
      (name) => before.get(name)?.pod !== after.get(name)?.pod,
    );
    if (differing.length === 0) continue;
    for (const name of differing) {
      for (const templatePod of [before.get(name), after.get(name)])
        if (templatePod !== undefined) changed.push(templatePod.pod);
    }
    if (after.size === 0) templatePods.delete(namespace);
    else templatePods.set(namespace, after);
  }
  return { templates, templatePods: changed.length === 0 ? index.templatePods : templatePods, changed };
}

function updateTemplates(
  index: ClusterIndex,
  changes: KindChanges,
): {
  templates: ClusterIndex["templates"];
  touched: Set<string>;
} {
  const written = new Map<string, Map<string, KubernetesObject>>();
  const namespaceOf = (object: KubernetesObject): Map<string, KubernetesObject> => {
    const namespace = objectNamespace(object);
    const map = written.get(namespace) ?? new Map(index.templates.get(namespace));
    written.set(namespace, map);
    return map;
  };
  const keyOf = ({ kind, metadata }: KubernetesObject): string => `${kind}/${metadata.name}`;
  for (const kind of templateKinds) {
    const { removed, added } = changes.get(kind) ?? noChanges;
    for (const object of removed) namespaceOf(object).delete(keyOf(object));
    for (const object of added) if (discovered(index, object)) namespaceOf(object).set(keyOf(object), object);
  }
  if (written.size === 0) return { templates: index.templates, touched: new Set() };
  const templates = new Map([...new Map([...index.templates, ...written])].filter(([, map]) => map.size > 0));
  return { templates, touched: new Set(written.keys()) };
}

const rank: ReadonlyMap<string, number> = new Map(templateKinds.map((kind, at) => [kind, at]));
const byKindAndName = (a: KubernetesObject, b: KubernetesObject): number =>
  (rank.get(a.kind) ?? 0) - (rank.get(b.kind) ?? 0) || byCodePoint(objectKey(a), objectKey(b));

/** By the names of the pods; one that means what it meant keeps its identity. */
function namespaceStandIns(
  index: ClusterIndex,
  templates: readonly KubernetesObject[],
  pods: readonly Pod[],
  before: ReadonlyMap<string, TemplatePod>,
): ReadonlyMap<string, TemplatePod> {
  const names = new Set(pods.map(({ workload }) => workload.name));
  const isKnown = knownWorkloads(pods);
  const templatePods = new Map<string, TemplatePod>();
  for (const template of templates.filter(makesPods).sort(byKindAndName)) {
    if (isKnown(template)) continue;
    const name = freeName(template, (taken) => names.has(taken));
    names.add(name);
    const former = before.get(name);
    const made = former?.template === template ? former : templatePodOf(template, name, index);
    templatePods.set(
      name,
      former !== undefined && samePod(former.pod, made.pod) ? { template, pod: former.pod } : made,
    );
  }
  return new Map([...templatePods].sort(([a], [b]) => byCodePoint(a, b)));
}

/** The workload's name, as long as no pod and no other workload of the namespace goes by it; a dot would end it in a node's id. */
function freeName({ kind, metadata }: KubernetesObject, isTaken: (name: string) => boolean): string {
  const name = metadata.name.replaceAll(".", "-");
  const own = kind === "StatefulSet" ? `${name}-0` : name;
  return [own, `${name}-${kind.toLowerCase()}`].find((one) => !isTaken(one)) ?? `${name}-${kind.toLowerCase()}-pod`;
}
