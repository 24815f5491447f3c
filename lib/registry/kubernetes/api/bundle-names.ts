import { fieldsOf, isFields, textOf } from "../../../base/untyped.ts";

/** Where an object with trusted certificates is; one of the cluster has no namespace. */
export interface BundleName {
  readonly kind: "ConfigMap" | "ClusterTrustBundle";
  /** "" for one of the cluster. */
  readonly namespace: string;
  readonly name: string;
}

/** Kinds whose objects may name trusted certificates, as parts of an origin. */
export const namingKinds: readonly string[] = [
  "BackendTLSPolicy.gateway.networking.k8s.io",
  "DestinationRule",
  "Gateway.gateway.networking.k8s.io",
];

const configMapName = /^configmap:\/\/(?:([^/]+)\/)?([^/]+)$/;
const clusterBundleName = /^clustertrustbundle:\/\/([^/]+)$/;

/** What a server takes as a name; any other text, such as `..`, leads elsewhere in a path. */
const nameForm = /^[a-z0-9](?:[a-z0-9.:-]{0,251}[a-z0-9])?$/;

/** The text of an object without one of these names nothing. */
const isNaming = (json: string): boolean =>
  ['"caCertificateRefs"', "configmap://", "clustertrustbundle://"].some((text) => json.includes(text));

/**
 * The objects with trusted certificates that an object names: in every list `caCertificateRefs`, and by every text `configmap://…` or
 * `clustertrustbundle://…`.
 *
 * @param json text of the object
 */
export function bundleNamesIn(json: string): readonly BundleName[] {
  if (!isNaming(json)) return [];
  const object = fieldsOf(JSON.parse(json));
  const own = textOf(fieldsOf(object.metadata).namespace) || "default";
  return namesIn(object.spec, own).filter(
    ({ namespace, name }) => nameForm.test(name) && (namespace === "" || nameForm.test(namespace)),
  );
}

function namesIn(value: unknown, own: string): readonly BundleName[] {
  if (typeof value === "string") {
    const [, namespace = own, name] = configMapName.exec(value) ?? [];
    if (name !== undefined) return [{ kind: "ConfigMap", namespace, name }];
    const [, ofCluster] = clusterBundleName.exec(value) ?? [];
    return ofCluster === undefined ? [] : [{ kind: "ClusterTrustBundle", namespace: "", name: ofCluster }];
  }
  if (Array.isArray(value)) return value.flatMap((one) => namesIn(one, own));
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([field, below]) =>
    field === "caCertificateRefs" && Array.isArray(below)
      ? below.flatMap((ref) => referenced(fieldsOf(ref), own))
      : namesIn(below, own),
  );
}

function referenced(ref: Readonly<Record<string, unknown>>, own: string): readonly BundleName[] {
  const [group, kind, name] = [textOf(ref.group), textOf(ref.kind), textOf(ref.name)];
  if (name === "") return [];
  if (group === "" && kind === "ConfigMap") return [{ kind, namespace: textOf(ref.namespace) || own, name }];
  return group === "certificates.k8s.io" && kind === "ClusterTrustBundle" ? [{ kind, namespace: "", name }] : [];
}
