import type { Stage } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import type { MeshConfig, ProxyConfig } from "../../config/kinds/mesh-config.ts";
import type { WorkloadGroup } from "../../config/kinds/workload-group.ts";
import { mergeProxyConfig } from "../../config/read-mesh-config.ts";
import { query } from "../../incremental/query.ts";
import type { Workload } from "../../registry/service.ts";
import { canonicalLabels } from "./canonical-service.ts";
import { followedIstioVersion, type ProxyStart } from "./proxy-start.ts";
import { type AnnotatedSettings, readAnnotations } from "./workload-annotations.ts";

/** The WorkloadGroup behind a WorkloadEntry, and what its annotations say. */
export interface GroupSettings {
  readonly group: Config<WorkloadGroup>;
  /** Those of the object, then those for its entries. */
  readonly annotations: readonly AnnotatedSettings[];
}

/** What a group says of its machines' proxies; diagnostics are those of `readAnnotations`, at the group. */
export const readGroup = query(
  "settings of a workload group",
  ({ group }: { readonly group: Config<WorkloadGroup> }): Stage<GroupSettings> => {
    const { origin, meta, spec } = group;
    const read = [
      readAnnotations({ annotations: meta.annotations, origin }),
      readAnnotations({
        annotations: spec.metadata?.annotations ?? {},
        origin,
        path: ["spec", "metadata", "annotations"],
      }),
    ];
    return {
      value: { group, annotations: read.map(({ value }) => value) },
      diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
    };
  },
);

/** What a machine is told besides its WorkloadEntry. */
export interface MachineSettings {
  readonly meshConfig: Pick<MeshConfig, "defaultConfig">;
  /** Domain suffix of services. */
  readonly domain: string;
  /** Undefined for an entry that somebody wrote by hand. */
  readonly group: GroupSettings | undefined;
}

/**
 * How the agent of a machine is started, as `istioctl x workload entry configure` would write it: the mesh's settings, then
 * the annotations of the WorkloadGroup and of the entry. ProxyConfig objects are for pods only. Nobody says how such a machine
 * takes traffic, so its mode is REDIRECT, and it captures DNS unless its settings say otherwise.
 *
 * @see docs/how-istio-does-it/nodes.md#machines
 * @see istio 1.30.3 istioctl/pkg/workload/workload.go
 * @see istio 1.30.3 tools/packaging/common/istio-start.sh
 */
export function startOfMachine(
  workload: Workload,
  type: ProxyStart["type"],
  annotations: AnnotatedSettings,
  { meshConfig, domain, group }: MachineSettings,
): ProxyStart {
  const { name, namespace, serviceAccount, network, clusterId } = workload;
  const layers = [...(group?.annotations ?? []), annotations].map((layer) => layer.settings);
  const own = layers.reduce<ProxyConfig>(mergeProxyConfig, meshConfig.defaultConfig);
  const groupName = group?.group.meta.name;
  const workloadName = groupName ?? workload.labels["service.istio.io/workload-name"] ?? name;
  const labels = { ...workload.labels, ...canonicalLabels(workload.labels, workloadName) };
  const environment = {
    ISTIO_META_DNS_CAPTURE: "true",
    ...own.proxyMetadata,
    POD_NAME: name,
    POD_NAMESPACE: namespace,
    SERVICE_ACCOUNT: serviceAccount,
    ISTIO_META_CLUSTER_ID: clusterId,
    ISTIO_META_MESH_ID: own.meshId ?? "",
    ISTIO_META_NETWORK: network,
    ISTIO_META_WORKLOAD_NAME: workloadName,
    ISTIO_METAJSON_LABELS: JSON.stringify(labels),
    ...(groupName === undefined ? {} : { ISTIO_META_AUTO_REGISTER_GROUP: groupName }),
  };
  return {
    type,
    dnsDomain: `${namespace}.svc.${domain}`,
    istioVersion: followedIstioVersion,
    settings: groupName === undefined ? own : mergeProxyConfig(own, { serviceCluster: `${groupName}.${namespace}` }),
    environment: Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== "")),
    labels,
  };
}
