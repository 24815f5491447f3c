import { type Fields, fieldsOf, isFields, stringsOf, textOf } from "../base/untyped.ts";
import type { Path } from "../config/finding.ts";
import { templatePath } from "../config/kubernetes/pod-template.ts";
import { ownerOf } from "../registry/kubernetes/pods/pod-owner.ts";
import type { WorkloadOwner } from "../registry/service.ts";
import { type Pod, podOf } from "./pod.ts";

/** Kinds that `istioctl kube-inject` looks for pods in, besides pods themselves. */
const workloadKinds: ReadonlySet<unknown> = new Set([
  "ReplicationController",
  "Deployment",
  "DaemonSet",
  "ReplicaSet",
  "StatefulSet",
  "Job",
  "CronJob",
  "DeploymentConfig",
]);

/** A workload whose pods may get a proxy. */
export interface FoundWorkload {
  readonly pod: Pod;
  readonly owner: WorkloadOwner;
  /** `Deployment "shop/web"`. */
  readonly title: string;
  readonly namespace: string;
  /** Where the pod stands in the object. */
  readonly path: Path;
  /** The workload with another pod. */
  readonly withPod: (pod: Pod) => Fields;
}

/**
 * The pods of an object.
 *
 * @param usual namespace of an object that names none
 * @returns undefined for an object of a kind that makes no pods
 */
export function workloadIn(object: Fields, usual: string): FoundWorkload | undefined {
  const { kind, apiVersion } = object;
  const isWorkload = kind === "Pod" || workloadKinds.has(kind);
  if (!isWorkload || typeof kind !== "string" || typeof apiVersion !== "string") return undefined;
  const path = kind === "Pod" ? [] : templatePath(kind);
  const at = path.reduce<unknown>((value, step) => fieldsOf(value)[step], object);
  if (!isFields(at)) return undefined;
  const pod = podOf(at);
  const metadata = fieldsOf(object.metadata);
  const name = textOf(metadata.name);
  const namespace = textOf(metadata.namespace) || textOf(pod.metadata.namespace) || usual;
  return {
    pod,
    owner: kind === "Pod" ? ownerOfPod(object) : { apiVersion, kind, name },
    title: `${kind} "${namespace}/${name}"`,
    namespace,
    path,
    withPod: ({ metadata: nextMetadata, spec }) => {
      const isBare = at.metadata === undefined && Object.keys(nextMetadata).length === 0;
      return replaced(object, path, { ...at, ...(isBare ? {} : { metadata: nextMetadata }), spec });
    },
  };
}

/** What a pod belongs to; its name is "" where it has none yet and nothing controls it. */
export function ownerOfPod(pod: Fields): WorkloadOwner {
  const metadata = fieldsOf(pod.metadata);
  const named = { ...metadata, name: textOf(metadata.name) };
  const origin = { key: { group: "", kind: "Pod", name: named.name, namespace: "" }, file: "", line: 0 };
  return ownerOf({ ...pod, apiVersion: "v1", kind: "Pod", metadata: named, origin }, stringsOf(metadata.labels));
}

function replaced(under: Fields, [step, ...rest]: Path, value: Fields): Fields {
  if (step === undefined) return value;
  return { ...under, [step]: replaced(fieldsOf(under[step]), rest, value) };
}
