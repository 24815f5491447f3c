import { type Fields, fieldsOf, listIn, listOf, stringsOf, textOf } from "../base/untyped.ts";
import { canonicalLabels, canonicalName, canonicalRevision } from "../mesh/proxy/canonical-service.ts";
import { networkLabel, tlsModeLabel } from "../registry/labels.ts";
import { restoredMetrics } from "./metrics.ts";
import { autoImage } from "./overrides.ts";
import {
  annotationsOf,
  containersOf,
  initContainersOf,
  labelsOf,
  nameOf,
  type Pod,
  proxyName,
  proxyOf,
  withContainers,
} from "./pod.ts";
import { restoredProbes } from "./probes.ts";
import { defaultContainerAnnotations } from "./shared-parts.ts";
import { asLabel } from "./sidecar.ts";
import { injectedBefore, overridesAnnotation, withoutInjected } from "./status.ts";

/**
 * A pod as it was before a proxy was injected, by what injection has noted in it. A label or annotation that injection would have set to the
 * value that it has is taken for injection's.
 *
 * @param ownerName of the workload, by which it is labelled where nothing else names it
 * @returns the pod itself where nothing was injected
 */
export function uninjectPod(pod: Pod, ownerName: string): Pod {
  const status = injectedBefore(pod);
  if (status === undefined) return pod;
  const variables = new Map(
    listIn(proxyOf(pod), "env").map((one) => [textOf(fieldsOf(one).name), textOf(fieldsOf(one).value)] as const),
  );
  const stripped = withOwnProxy(withoutInjected(pod));
  const restored = restoredProbes(stripped, variables.get("ISTIO_KUBE_APP_PROBERS") ?? "");
  const first = containersOf(restored).map(nameOf)[0];
  const { [overridesAnnotation]: _own, "istio.io/rev": _revision, ...rest } = annotationsOf(restored);
  const annotations = { ...restoredMetrics(rest, variables.get("ISTIO_PROMETHEUS_ANNOTATIONS")) };
  for (const name of defaultContainerAnnotations) if (annotations[name] === first) delete annotations[name];
  const labels = labelsBefore(labelsOf(restored), ownerName, variables.get("ISTIO_META_NETWORK"));
  return {
    metadata: withTexts(withTexts(restored.metadata, "annotations", annotations), "labels", labels),
    spec: specBefore(restored.spec, status),
  };
}

/** What a pod says of its proxy beforehand stands among its containers, and needs an image there. */
function withOwnProxy(pod: Pod): Pod {
  const own = proxyOf(pod);
  if (own === undefined) return pod;
  const others = (list: readonly Fields[]) => list.filter((container) => nameOf(container) !== proxyName);
  const written = { ...own, image: textOf(own.image) || autoImage };
  return withContainers(pod, {
    containers: [...others(containersOf(pod)), written],
    initContainers: others(initContainersOf(pod)),
  });
}

function labelsBefore(labels: Readonly<Record<string, string>>, ownerName: string, network: string | undefined) {
  const { [canonicalName]: name, [canonicalRevision]: revision, ...rest } = labels;
  const made = canonicalLabels(rest, ownerName);
  const before: Record<string, string> = { ...rest };
  if (name !== undefined && name !== made[canonicalName] && name !== asLabel(made[canonicalName]))
    before[canonicalName] = name;
  if (revision !== undefined && revision !== made[canonicalRevision]) before[canonicalRevision] = revision;
  if (before[tlsModeLabel] === "istio") delete before[tlsModeLabel];
  if (network !== undefined && before[networkLabel] === network) delete before[networkLabel];
  return before;
}

/** Without what is empty: it was not there, or said nothing. */
function withTexts(metadata: Pod["metadata"], name: string, texts: Readonly<Record<string, string>>): Pod["metadata"] {
  const { [name]: _before, ...rest } = metadata;
  return Object.keys(texts).length === 0 ? rest : { ...rest, [name]: texts };
}

function specBefore(spec: Pod["spec"], status: Readonly<Record<string, unknown>>): Pod["spec"] {
  const next: Record<string, unknown> = { ...spec };
  for (const list of ["volumes", "imagePullSecrets"] as const) {
    const injected = new Set(listOf(status[list]));
    const kept = listOf(spec[list]).filter((one) => !injected.has(textOf(fieldsOf(one).name)));
    if (kept.length > 0) next[list] = kept;
    else if (injected.size > 0) delete next[list];
  }
  // The gateway's template allows its proxy low ports.
  const context = fieldsOf(spec.securityContext);
  const [only, ...more] = listOf(context.sysctls).map(stringsOf);
  if (only?.name === "net.ipv4.ip_unprivileged_port_start" && more.length === 0 && Object.keys(context).length === 1)
    delete next.securityContext;
  return next;
}
