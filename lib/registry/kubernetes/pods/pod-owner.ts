import { fieldsOf, listOf, textOf } from "../../../base/untyped.ts";
import type { Labels } from "../../../config/values/labels.ts";
import type { WorkloadOwner } from "../../service.ts";
import type { KubernetesObject } from "../object.ts";

/** `batch-28491234`-style Job names end with the minute their CronJob made them in. */
const cronJobRun = /^(.+)-\d{8,10}$/;

/**
 * What a pod belongs to, as far as the pod tells: the Deployment and not the ReplicaSet between; the pod itself where its
 * name was not generated, or nothing controls it.
 * @see docs/how-istio-does-it/kubernetes.md#endpoints-and-pods
 * @see istio 1.30.3 pkg/kube/util.go, GetDeployMetaFromPod
 */
export function ownerOf(object: KubernetesObject, labels: Labels): WorkloadOwner {
  const { name, generateName, ownerReferences } = object.metadata;
  const pod: WorkloadOwner = { apiVersion: "v1", kind: "Pod", name };
  if (textOf(generateName) === "") return pod;
  const controller = listOf(ownerReferences)
    .map(fieldsOf)
    .find((reference) => reference.controller === true);
  if (controller === undefined) return pod;
  const owner = {
    apiVersion: textOf(controller.apiVersion),
    kind: textOf(controller.kind),
    name: textOf(controller.name) || name,
  };
  switch (owner.kind) {
    case "ReplicaSet":
      return (
        withoutHash(owner, "Deployment", labels["pod-template-hash"]) ??
        withoutHash({ ...owner, apiVersion: "v1alpha1" }, "Rollout", labels["rollouts-pod-template-hash"]) ??
        owner
      );
    case "ReplicationController":
      return labels.deploymentconfig ? { ...owner, kind: "DeploymentConfig", name: labels.deploymentconfig } : owner;
    case "Job": {
      const cronJob = cronJobRun.exec(owner.name)?.[1];
      return cronJob === undefined ? owner : { apiVersion: "batch/v1", kind: "CronJob", name: cronJob };
    }
    default:
      return owner;
  }
}

/** The owner of a ReplicaSet whose name ends with the hash of its pods; undefined for one whose name does not. */
function withoutHash(replicaSet: WorkloadOwner, kind: string, hash: string | undefined): WorkloadOwner | undefined {
  if (hash === undefined || hash === "" || !replicaSet.name.endsWith(`-${hash}`)) return undefined;
  return { ...replicaSet, kind, name: replicaSet.name.slice(0, -hash.length - 1) };
}
