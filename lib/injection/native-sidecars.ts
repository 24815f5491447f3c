import { type Fields, fieldsOf, textOf } from "../base/untyped.ts";

/** Native sidecars are stable from this minor version of Kubernetes on. */
const minMinor = 33;

/**
 * Whether every node runs native sidecars, by the version of its kubelet. Without a node, or with one whose version is not known, none is taken
 * to.
 *
 * @param objects of the cluster, of any kind
 * @see istio 1.30.3 pkg/kube/inject/webhook.go, DetectNativeSidecar
 */
export function nodesRunNativeSidecars(objects: readonly Fields[]): boolean {
  const nodes = objects.filter(({ kind, apiVersion }) => kind === "Node" && apiVersion === "v1");
  return (
    nodes.length > 0 &&
    nodes.every(({ status }) => {
      const version = textOf(fieldsOf(fieldsOf(status).nodeInfo).kubeletVersion);
      const [, major = "", minor = ""] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
      return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= minMinor);
    })
  );
}
