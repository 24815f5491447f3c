import { type Fields, stringsOf } from "../../../base/untyped.ts";
import { kindSchemas } from "../../../config/kind-registry.ts";
import { isWrittenBack } from "../../../config/kinds/workload-entry.ts";
import type { ApiItem } from "./item.ts";
import {
  bundleFields,
  keptMetadata,
  nodeFields,
  noFields,
  podFields,
  podMetadata,
  serviceEntryFields,
  serviceFields,
  settingsFields,
  statusMetadata,
  withoutStatus,
  workloadEntryFields,
} from "./kept-fields.ts";

/** A kind that is read from an API server, and what of it is kept. */
export interface ReadKind {
  /** "" for Kubernetes' core. */
  readonly group: string;
  readonly kind: string;
  /** Versions that can be read, the preferred one first; all of them show the same objects. */
  readonly versions: readonly string[];
  /** As in paths. */
  readonly plural: string;
  readonly isClusterScoped: boolean;
  /** Only this object. */
  readonly only?: { readonly namespace: string; readonly name: string };
  readonly fieldSelector?: string;
  readonly metadataOnly?: boolean;
  /** Objects that are not kept: Portolan has written them. */
  readonly isPassedOver?: (item: ApiItem) => boolean;
  readonly keptMetadata: (item: ApiItem) => Fields;
  /** Everything kept beside the envelope. */
  readonly keptFields: (item: ApiItem) => Fields;
}

const core = { group: "", versions: ["v1"], isClusterScoped: false, keptMetadata } as const;

/** The ConfigMap in which Istio's installation keeps the mesh's settings. */
export const meshSettings: ReadKind = {
  ...core,
  kind: "ConfigMap",
  plural: "configmaps",
  only: { namespace: "istio-system", name: "istio" },
  keptFields: settingsFields,
};

const namespaces: ReadKind = {
  ...core,
  kind: "Namespace",
  plural: "namespaces",
  isClusterScoped: true,
  keptFields: noFields,
};

/** Says which namespaces are read. @see docs/how-istio-does-it/kubernetes.md#resources */
export const selectingKinds: readonly ReadKind[] = [meshSettings, namespaces];

const services: readonly ReadKind[] = [
  { ...core, kind: "Service", plural: "services", keptFields: serviceFields },
  {
    ...core,
    group: "discovery.k8s.io",
    kind: "EndpointSlice",
    plural: "endpointslices",
    keptFields: withoutStatus,
  },
  { ...core, kind: "Node", plural: "nodes", isClusterScoped: true, keptFields: nodeFields },
];

/** Read after the slices, which name them. */
export const pods: ReadKind = {
  ...core,
  kind: "Pod",
  plural: "pods",
  fieldSelector: "status.phase!=Failed",
  keptMetadata: podMetadata,
  keptFields: podFields,
};

/** Names and labels of the secrets that hold certificates; their values are never asked for. */
export const secrets: ReadKind = {
  ...core,
  kind: "Secret",
  plural: "secrets",
  fieldSelector: "type=kubernetes.io/tls",
  metadataOnly: true,
  keptMetadata,
  keptFields: () => ({ type: "kubernetes.io/tls" }),
};

/** Objects with trusted certificates, which are read where another object names them. */
export const bundleKinds: Readonly<Record<"ConfigMap" | "ClusterTrustBundle", ReadKind>> = {
  ConfigMap: { ...core, kind: "ConfigMap", plural: "configmaps", keptFields: bundleFields },
  ClusterTrustBundle: {
    ...core,
    group: "certificates.k8s.io",
    versions: ["v1", "v1beta1", "v1alpha1"],
    kind: "ClusterTrustBundle",
    plural: "clustertrustbundles",
    isClusterScoped: true,
    keptFields: withoutStatus,
  },
};

/** Kinds whose status is written back: objects are told apart by more than their names. */
const hasStatusOfOurs = (group: string, kind: string): boolean =>
  group.startsWith("gateway.networking.") || kind === "ServiceEntry";

/** Of kinds of which more is kept than all but the status. */
const fieldsOfKind: Readonly<Record<string, ReadKind["keptFields"]>> = {
  ServiceEntry: serviceEntryFields,
  WorkloadEntry: workloadEntryFields,
};

/** Ingresses, every kind of Istio's, of today and of old, and Gateway API's. */
const configKinds: readonly ReadKind[] = kindSchemas.map(
  ({ group, kind, versions, plural, clusterScoped }): ReadKind => ({
    group,
    kind,
    versions,
    plural,
    isClusterScoped: clusterScoped,
    keptMetadata: hasStatusOfOurs(group, kind) ? statusMetadata : keptMetadata,
    keptFields: fieldsOfKind[kind] ?? withoutStatus,
    ...(kind === "WorkloadEntry"
      ? { isPassedOver: ({ metadata }) => isWrittenBack(stringsOf(metadata.annotations)) }
      : {}),
  }),
);

/** Whether a kind comes with a CRD, which can be deleted: groups of Kubernetes' own are `apps` or `networking.k8s.io`. */
export const isOfDefinition = ({ group }: Pick<ReadKind, "group">): boolean => !/^[^.]*(?:\.k8s\.io)?$/.test(group);

/** Everything else that is read, in no order. */
export const otherKinds: readonly ReadKind[] = [...services, ...configKinds];
