import { byCodePoint } from "../../base/diagnostic.ts";
import type {
  DestinationRule,
  LocalityLoadBalancerSetting,
  TrafficPolicy,
} from "../../config/kinds/destination-rule.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { internValue } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Service } from "../../registry/service.ts";
import type { Mesh } from "../mesh.ts";
import { listOf } from "../proxy/node-metadata.ts";
import type { SidecarScope } from "../scope/sidecar-scope.ts";
import { distributionLabels } from "../traffic-distribution.ts";
import { ipModeOf } from "./proxies/class-proxy.ts";
import type { ProxyAnswers } from "./proxies/proxy-answers.ts";
import type { EndpointPerspective } from "./views.ts";

const regionOf = (locality: string): string => locality.split("/")[0] ?? "";

/** What of a locality is read: all, its region, or nothing. */
function placeOf({ locality, region }: PlaceReads, node: ProxyAnswers): string {
  if (locality) return node.locality;
  return region ? regionOf(node.locality) : "";
}

/** Where a proxy stands, as far as the endpoints of its scope's services depend on it. */
export function perspectiveOf(
  mesh: Pick<Mesh, "config" | "networks">,
  node: ProxyAnswers,
  scope: Pick<SidecarScope, "services" | "destinationRules">,
  memo: Memo,
): EndpointPerspective {
  const { services, destinationRules } = scope;
  const reads = scopeReadsOf(memo, { services, destinationRules, meshConfig: mesh.config });
  const failoverLabels = reads.labels.flatMap((key) => {
    const value = node.label(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  const readsNetwork = mesh.networks.gateways.length > 0;
  return internValue(memo, {
    clusterId: node.clusterId,
    failoverLabels: Object.fromEntries(failoverLabels),
    ipMode: ipModeOf(node.families),
    locality: placeOf(reads, node),
    network: readsNetwork ? node.network : "",
    networkView: listOf(node.metadata("REQUESTED_NETWORK_VIEW")),
    nodeName: reads.nodeName ? node.nodeName : "",
  });
}

interface PlaceInputs extends Pick<SidecarScope, "services" | "destinationRules"> {
  readonly meshConfig: MeshConfig;
}

const scopeReadsOf = query("place reads", ({ services, destinationRules, meshConfig }: PlaceInputs) => {
  const rules = [...destinationRules.values()].flat().map(({ config }) => config.spec);
  return placeReads(services, rules, meshConfig);
});

/** What of a proxy's place the answers about some services depend on. */
interface PlaceReads {
  readonly locality: boolean;
  /** Of the locality the region at least. */
  readonly region: boolean;
  readonly nodeName: boolean;
  /** Label keys of failover priorities, sorted. */
  readonly labels: readonly string[];
}

/** What services and their rules make depend on the place of the client. */
function placeReads(
  services: readonly Service[],
  rules: readonly DestinationRule[],
  { localityLbSetting, zoneAwareLbSetting, defaultTrafficPolicy }: MeshConfig,
): PlaceReads {
  const policies = rules.flatMap((spec) => [
    ...levelsOf(spec.trafficPolicy),
    ...(spec.subsets ?? []).flatMap((subset) => levelsOf(subset.trafficPolicy)),
  ]);
  const settings = [localityLbSetting, ...policies.flatMap((policy) => policy.loadBalancer?.localityLbSetting ?? [])];
  const zones = [zoneAwareLbSetting, ...policies.map(({ loadBalancer }) => loadBalancer?.zoneAwareLbSetting)]
    .filter((setting) => setting !== undefined)
    .filter(({ enabled }) => enabled !== false);
  const fails =
    defaultTrafficPolicy?.outlierDetection !== undefined ||
    policies.some((policy) => policy.outlierDetection !== undefined);
  const distributes = settings.some((setting) => (setting.distribute ?? []).length > 0);
  const nodeName = services.some(({ attributes }) => attributes.nodeLocal);
  const labels = [
    ...[...(fails ? settings : []), ...zones].flatMap(failoverKeys),
    ...services.flatMap(distributionLabels),
  ];
  return {
    locality: fails || distributes,
    region: zones.length > 0,
    nodeName,
    labels: [...new Set(labels)].sort(byCodePoint),
  };
}

const levelsOf = (policy: TrafficPolicy | undefined): readonly TrafficPolicy[] =>
  policy === undefined ? [] : [policy, ...(policy.portLevelSettings ?? [])];

/** Keys of `key` and `key=value` entries. */
const failoverKeys = ({
  failoverPriority = [],
}: Pick<LocalityLoadBalancerSetting, "failoverPriority">): readonly string[] =>
  failoverPriority.map((entry) => entry.split("=")[0] ?? entry);
