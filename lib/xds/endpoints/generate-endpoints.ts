import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { byCodePoint } from "../../config/diagnostic.ts";
import type { Memo } from "../../mesh/memo.ts";
import type { EndpointView } from "../../mesh/views.ts";
import { effectivePolicy } from "../clusters/traffic-policy.ts";
import { parseClusterName } from "../names.ts";
import type { Resource } from "../resource.ts";
import { loadAssignment } from "./load-assignment.ts";
import { type GatewayIndex, indexGateways } from "./network-gateways.ts";
import { perspectiveText } from "./perspective-text.ts";

/** Stands for "no rule" among memo keys. */
const noRule = {};

/** One load assignment for each EDS cluster, by the name that the cluster asks for; sorted by name. */
export function generateEndpoints(
  view: EndpointView,
  clusters: readonly Resource<ClusterJson>[],
  memo: Memo,
): readonly Resource<ClusterLoadAssignmentJson>[] {
  const { lookups, perspective } = view;
  const gateways = memo([lookups.networkGateways], "gateways", () => indexGateways(lookups.networkGateways, false));
  const sight = perspectiveText(perspective);
  return clusters
    .filter((cluster) => cluster.json.type === "EDS")
    .map((cluster) => assignmentOf(view, cluster, gateways, sight, memo))
    .sort((a, b) => byCodePoint(a.name, b.name));
}

function assignmentOf(
  view: EndpointView,
  cluster: Resource<ClusterJson>,
  gateways: GatewayIndex,
  sight: string,
  memo: Memo,
): Resource<ClusterLoadAssignmentJson> {
  const name = cluster.json.edsClusterConfig?.serviceName ?? cluster.name;
  const nothing = { name, json: { clusterName: name }, from: cluster.from };
  const parts = parseClusterName(name);
  const service = parts === undefined ? undefined : view.scope.serviceByHostname.get(parts.host);
  if (parts === undefined || service === undefined) return nothing;
  const port = service.ports.find((candidate) => candidate.port === parts.port);
  if (port === undefined) return nothing;
  const { lookups } = view;
  const rule = view.destinationRule(service);
  const from = [lookups.endpoints(service), service, rule ?? noRule, lookups.mesh, lookups.authentication, gateways];
  return memo(from, `endpoints|${name}|${sight}`, () => ({
    name,
    json: loadAssignment(
      {
        clusterName: name,
        service,
        port,
        subset: parts.subset,
        rule,
        policy: effectivePolicy(rule, parts.subset, parts.port),
        sniDnat: name.startsWith("outbound_."),
        dns: false,
      },
      view.perspective,
      lookups,
      gateways,
    ),
    from: cluster.from,
  }));
}
