import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { byCodePoint } from "../../config/diagnostic.ts";
import type { Memo } from "../../mesh/memo.ts";
import type { EndpointView } from "../../mesh/views.ts";
import { effectivePolicy } from "../clusters/traffic-policy.ts";
import { parseClusterName } from "../names.ts";
import { provenanceOf } from "../provenance.ts";
import type { Resource } from "../resource.ts";
import { type Assignment, loadAssignment } from "./load-assignment.ts";
import { createLocalityPool, createMemberPool } from "./locality-group.ts";
import { indexGateways } from "./network-gateways.ts";
import { perspectiveText } from "./perspective-text.ts";

/** Stands for "no rule" among memo keys. */
const noRule = {};

type Asked = Omit<Assignment, "rule" | "policy">;

/** Whose endpoints an EDS cluster wants; undefined where the scope has no such service or port. */
function askedFor(view: EndpointView, clusterName: string): Asked | undefined {
  const parts = parseClusterName(clusterName);
  const service = parts === undefined ? undefined : view.scope.serviceByHostname.get(parts.host);
  const port = service?.ports.find((candidate) => candidate.port === parts?.port);
  if (parts === undefined || service === undefined || port === undefined) return undefined;
  const sniDnat = clusterName.startsWith("outbound_.");
  return { clusterName, service, port, subset: parts.subset, sniDnat, dns: false };
}

/** One load assignment for each EDS cluster, by the name that the cluster asks for; sorted by name. */
export function generateEndpoints(
  view: EndpointView,
  clusters: readonly Resource<ClusterJson>[],
  memo: Memo,
): readonly Resource<ClusterLoadAssignmentJson>[] {
  const { lookups, perspective } = view;
  const gateways = memo([lookups.networkGateways], "gateways", () => indexGateways(lookups.networkGateways, false));
  // Stands for the mesh-wide inputs among memo keys.
  const meshWide = memo([lookups.mesh, lookups.authentication, gateways], "endpoint inputs", () => ({
    localityOf: createLocalityPool(),
  }));
  const context = { perspective, lookups, gateways, localityOf: meshWide.localityOf };
  const seen = memo([meshWide], `sight|${perspectiveText(perspective)}`, () => ({}));
  const assignmentOf = (cluster: Resource<ClusterJson>): Resource<ClusterLoadAssignmentJson> => {
    const name = cluster.json.edsClusterConfig?.serviceName ?? cluster.name;
    const asked = askedFor(view, name);
    // Envoy waits for an answer, so there is one even for what is not known.
    if (asked === undefined) return { name, json: { clusterName: name }, from: cluster.from };
    const { service } = asked;
    const endpoints = lookups.endpoints(service);
    const rule = view.destinationRule(service);
    return memo([seen, endpoints, service, rule ?? noRule], name, () => {
      const members = memo([endpoints], "members", createMemberPool);
      const policy = effectivePolicy(rule, asked.subset, asked.port.port);
      return {
        name,
        json: loadAssignment({ ...asked, rule, policy }, context, members),
        from: provenanceOf([service], rule),
      };
    });
  };
  return clusters
    .filter((cluster) => cluster.json.type === "EDS")
    .map(assignmentOf)
    .sort((a, b) => byCodePoint(a.name, b.name));
}
