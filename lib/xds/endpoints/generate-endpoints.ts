import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { byCodePoint } from "../../config/diagnostic.ts";
import { mapAgain } from "../../mesh/memo/identity.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { sameList } from "../../mesh/memo/same.ts";
import type { EndpointView } from "../../mesh/views/views.ts";
import { type Endpoint, streamPort } from "../../registry/service.ts";
import { effectivePolicy } from "../clusters/traffic-policy.ts";
import { parseClusterName } from "../names.ts";
import { provenanceOf } from "../provenance.ts";
import type { Resource } from "../resource.ts";
import { type Assignment, loadAssignment, perspectiveText } from "./load-assignment.ts";
import { createLocalityPool, createMemberPool } from "./locality-group.ts";
import { indexGateways } from "./network-gateways.ts";

/** Stands for "no rule" among memo keys. */
const noRule = {};

/** The endpoints of what is not known. */
const nobody: readonly Endpoint[] = [];

/** What an EDS cluster asks for. */
interface Question {
  /** Name that it asks by. */
  readonly name: string;
  /** Whose endpoints those are; undefined where the scope has no such service or port. */
  readonly asked: Omit<Assignment, "rule" | "policy"> | undefined;
  readonly cluster: Resource<ClusterJson>;
}

function questionOf(scope: EndpointView["scope"], cluster: Resource<ClusterJson>): Question {
  const name = cluster.json.edsClusterConfig?.serviceName ?? cluster.name;
  const parts = parseClusterName(name);
  const service = parts === undefined ? undefined : scope.serviceByHostname.get(parts.host);
  if (parts === undefined || service === undefined) return { name, asked: undefined, cluster };
  const port = streamPort(service, parts.port);
  if (port === undefined) return { name, asked: undefined, cluster };
  const sniDnat = name.startsWith("outbound_.");
  return { name, asked: { clusterName: name, service, port, subset: parts.subset, sniDnat, dns: false }, cluster };
}

/** What the clusters ask for, by the name that they ask by. */
function questionsOf(scope: EndpointView["scope"], clusters: readonly Resource<ClusterJson>[]): readonly Question[] {
  return clusters.map((cluster) => questionOf(scope, cluster)).sort((a, b) => byCodePoint(a.name, b.name));
}

/** One load assignment for each EDS cluster, by the name that the cluster asks for; sorted by name. */
export function generateEndpoints(
  view: EndpointView,
  clusters: readonly Resource<ClusterJson>[],
  memo: Memo,
): readonly Resource<ClusterLoadAssignmentJson>[] {
  // Classes that see the same services ask the same, whatever else is among their clusters.
  const asking = sameList(
    memo,
    `EDS clusters|${view.key}`,
    clusters.filter((cluster) => cluster.json.type === "EDS"),
  );
  return memo([view, asking], "load assignments", () => loadAssignments(view, asking, memo));
}

function loadAssignments(
  view: EndpointView,
  clusters: readonly Resource<ClusterJson>[],
  memo: Memo,
): readonly Resource<ClusterLoadAssignmentJson>[] {
  const { lookups, perspective, scope } = view;
  const gateways = memo([lookups.networkGateways], "gateways", () => indexGateways(lookups.networkGateways, false));
  // Stands for the mesh-wide inputs among memo keys.
  const meshWide = memo([lookups.mesh, lookups.authentication, gateways], "endpoint inputs", () => ({
    localityOf: createLocalityPool(),
  }));
  const context = { perspective, lookups, gateways, localityOf: meshWide.localityOf };
  const seen = memo([meshWide], `sight|${perspectiveText(perspective)}`, () => ({}));
  const questions = memo([clusters, scope.services], "EDS questions", () => questionsOf(scope, clusters));
  const inputs = {
    context: [seen, scope.destinationRules],
    of: ({ asked }: Question) => (asked === undefined ? nobody : lookups.endpoints(asked.service)),
  };
  return mapAgain(memo, `endpoints|${view.key}`, questions, inputs, (question, endpoints) => {
    const { name, asked, cluster } = question;
    // Envoy waits for an answer, so there is one even for what is not known.
    if (asked === undefined) {
      return memo([cluster], "no endpoints", () => ({ name, json: { clusterName: name }, from: cluster.from }));
    }
    const { service } = asked;
    const rule = view.destinationRule(service);
    return memo([seen, endpoints, service, rule ?? noRule], name, () => {
      const members = memo([endpoints], "members", () => createMemberPool(endpoints));
      const policy = effectivePolicy(rule, asked.subset, asked.port.port);
      return {
        name,
        json: loadAssignment({ ...asked, rule, policy }, context, members),
        from: provenanceOf(service, rule),
      };
    });
  });
}
