import { type Fields, fieldsOf, listOf, stringsOf } from "../../../base/untyped.ts";
import type { ApiItem } from "./item.ts";

/** Holds the whole object once more, as kubectl last applied it. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** The fields of these names that are there. */
function pick(value: unknown, ...names: readonly string[]): Fields {
  const fields = fieldsOf(value);
  return Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
}

/** A field by itself, left out where it holds nothing. */
const filled = (name: string, value: Fields | readonly unknown[]): Fields =>
  Object.keys(value).length === 0 ? {} : { [name]: value };

/** What is kept of every object's metadata: who it is, since when, and what is written on it. */
export function keptMetadata({ metadata }: ApiItem): Fields {
  const { [lastApplied]: _whole, ...annotations } = stringsOf(metadata.annotations);
  return {
    ...pick(metadata, "name", "namespace", "creationTimestamp"),
    ...filled("labels", stringsOf(metadata.labels)),
    ...filled("annotations", annotations),
  };
}

/** The same, with what a status is told apart by: which object it is about, and which of its specs. */
export function statusMetadata(item: ApiItem): Fields {
  return { ...keptMetadata(item), ...pick(item.metadata, "uid", "generation") };
}

/** All fields but the envelope and the state that a controller writes. */
export function withoutStatus({
  apiVersion: _version,
  kind: _kind,
  metadata: _metadata,
  status: _status,
  ...fields
}: ApiItem) {
  return fields;
}

/** A service, with the addresses of its load balancer. */
export function serviceFields(item: ApiItem): Fields {
  return { ...withoutStatus(item), ...filled("status", pick(item.status, "loadBalancer")) };
}

/** Of a node only where it is, and the version of its kubelet, by which injection chooses; its heartbeat stays where it comes from. */
export function nodeFields({ status }: ApiItem): Fields {
  const kubelet = filled("nodeInfo", pick(fieldsOf(status).nodeInfo, "kubeletVersion"));
  return filled("status", { ...pick(status, "addresses"), ...kubelet });
}

/** Whether the agent of a WorkloadEntry's machine finds it healthy; not when it looked last, which would be a change each time. */
export function workloadEntryFields(item: ApiItem): Fields {
  const conditions = listOf(fieldsOf(item.status).conditions).filter((one) => fieldsOf(one).type === "Healthy");
  const kept = conditions.map((one) => pick(one, "type", "status"));
  return { ...withoutStatus(item), ...filled("status", filled("conditions", kept)) };
}

export const noFields = (): Fields => ({});

/** The addresses that a controller has found for a ServiceEntry without any. */
export function serviceEntryFields(item: ApiItem): Fields {
  return { ...withoutStatus(item), ...filled("status", pick(item.status, "addresses")) };
}

/** The settings of the mesh, of all that a ConfigMap may hold. */
export function settingsFields({ data }: ApiItem): Fields {
  return { data: pick(data, "mesh", "meshNetworks") };
}

/** Trusted certificates and lists of revoked ones, of all that a ConfigMap may hold. */
export function bundleFields({ data }: ApiItem): Fields {
  return { data: pick(data, "cacert", "ca.crt", "crl", "ca.crl") };
}

const proxyContainer = "istio-proxy";

/** Of a container its name and ports; of the proxy's what its start is made from. */
function keptContainer(container: unknown): Fields {
  const { name } = fieldsOf(container);
  const more = name === proxyContainer ? ["image", "args", "env", "resources"] : [];
  return pick(container, "name", "ports", "restartPolicy", ...more);
}

/** What is read of a pod: where it runs, as whom, whether it is ready, its ports and its proxy. */
export function podFields({ spec, status }: ApiItem): Fields {
  const fields = fieldsOf(spec);
  const sidecars = listOf(fields.initContainers).filter((container) => {
    const { name, restartPolicy } = fieldsOf(container);
    return name === proxyContainer || restartPolicy === "Always";
  });
  const ready = listOf(fieldsOf(status).conditions).filter((condition) => fieldsOf(condition).type === "Ready");
  return {
    spec: {
      ...pick(fields, "nodeName", "serviceAccountName", "hostname", "subdomain", "hostNetwork"),
      ...filled("containers", listOf(fields.containers).map(keptContainer)),
      ...filled("initContainers", sidecars.map(keptContainer)),
    },
    status: {
      ...pick(status, "phase", "podIP", "podIPs", "hostIP", "hostIPs"),
      ...filled(
        "conditions",
        ready.map((condition) => pick(condition, "type", "status")),
      ),
    },
  };
}

/** What a pod's metadata say besides: who made it, and whether it is on its way out. */
export function podMetadata(item: ApiItem): Fields {
  const { metadata } = item;
  const owners = listOf(metadata.ownerReferences).filter((owner) => fieldsOf(owner).controller === true);
  return {
    ...keptMetadata(item),
    ...pick(metadata, "uid", "generateName", "deletionTimestamp"),
    ...filled(
      "ownerReferences",
      owners.map((owner) => pick(owner, "apiVersion", "kind", "name", "controller")),
    ),
  };
}
