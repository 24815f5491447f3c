import { type Fields, fieldsOf, isFields, jsonIn, listIn, listOf, textOf } from "../base/untyped.ts";
import { annotationsOf, containersOf, initContainersOf, nameOf, type Pod, withContainers } from "./pod.ts";

/** What injection has put into a pod, as JSON. */
export const statusAnnotation = "sidecar.istio.io/status";
/** What the pod itself says of containers that injection makes, as JSON. */
export const overridesAnnotation = "proxy.istio.io/overrides";

const lists = ["initContainers", "containers", "volumes", "imagePullSecrets"] as const;

/** The names of what templates have put over a pod. */
export function statusText({ spec }: Pod, revision: string): string {
  const names = lists.map((list) => {
    const found = listIn(spec, list).map((one) => textOf(fieldsOf(one).name));
    return [list, found.length === 0 ? null : found] as const;
  });
  return JSON.stringify({ ...Object.fromEntries(names), revision });
}

/** What was injected before; undefined for a pod that nothing was injected into. */
export function injectedBefore(pod: Pod): Fields | undefined {
  const status = jsonIn(annotationsOf(pod)[statusAnnotation] ?? "");
  return isFields(status) ? status : undefined;
}

/** A pod without the containers that were injected before, and with what it says of them itself. */
export function withoutInjected(pod: Pod): Pod {
  const status = injectedBefore(pod);
  if (status === undefined) return pod;
  const { [statusAnnotation]: _status, ...annotations } = annotationsOf(pod);
  const overrides = fieldsOf(jsonIn(annotations[overridesAnnotation] ?? ""));
  const left = (list: "containers" | "initContainers", containers: readonly Fields[]) => {
    const injected = new Set(listOf(status[list]));
    const kept = containers.filter((container) => !injected.has(nameOf(container)));
    const names = new Set(kept.map(nameOf));
    const own = listOf(overrides[list]).map(fieldsOf);
    return [...kept, ...own.filter((one) => !names.has(nameOf(one)))];
  };
  const stripped = withContainers(pod, {
    containers: left("containers", containersOf(pod)),
    initContainers: left("initContainers", initContainersOf(pod)),
  });
  return { ...stripped, metadata: { ...pod.metadata, annotations } };
}
