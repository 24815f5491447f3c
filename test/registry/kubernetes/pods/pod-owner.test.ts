import { expect, it } from "vitest";
import { ownerOf } from "../../../../lib/registry/kubernetes/pods/pod-owner.ts";

const pod = (metadata: object) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-0", ...metadata },
  origin: { key: { group: "", kind: "Pod", name: "web-0", namespace: "" }, file: "", line: 0 },
});

it.each([
  ["apps/v1 ReplicaSet web-5d4f", { "pod-template-hash": "5d4f" }, "apps/v1 Deployment web"],
  ["apps/v1 ReplicaSet web-5d4f", { "rollouts-pod-template-hash": "5d4f" }, "v1alpha1 Rollout web"],
  ["apps/v1 ReplicaSet web-5d4f", { "pod-template-hash": "0000" }, "apps/v1 ReplicaSet web-5d4f"],
  ["apps/v1 StatefulSet web", {}, "apps/v1 StatefulSet web"],
  ["v1 ReplicationController web-1", { deploymentconfig: "web" }, "v1 DeploymentConfig web"],
  ["v1 ReplicationController web-1", {}, "v1 ReplicationController web-1"],
  ["batch/v1 Job nightly-28430000", {}, "batch/v1 CronJob nightly"],
  ["batch/v1 Job once", {}, "batch/v1 Job once"],
])("a pod that %s controls, with labels %s, belongs to %s", (controller, labels, want) => {
  const [apiVersion = "", kind = "", name = ""] = controller.split(" ");
  const ownerReferences = [
    { kind: "Other", name: "no" },
    { apiVersion, kind, name, controller: true },
  ];
  const owner = ownerOf(pod({ generateName: "web-", ownerReferences }), { ...labels });
  expect(`${owner.apiVersion} ${owner.kind} ${owner.name}`).toBe(want);
});

it.each([
  ["that nothing controls", { generateName: "web-", ownerReferences: [{ kind: "Other", name: "no" }] }],
  ["whose name was not generated", { ownerReferences: [{ kind: "Node", name: "n", controller: true }] }],
])("a pod %s belongs to itself", (_what, metadata) => {
  expect(ownerOf(pod(metadata), {})).toEqual({ apiVersion: "v1", kind: "Pod", name: "web-0" });
});
