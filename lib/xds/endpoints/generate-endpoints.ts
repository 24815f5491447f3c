import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClusterLoadAssignmentJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import { internList, listKeeper } from "../../incremental/keep-identity.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { EndpointView, RuleLookup } from "../../mesh/views/views.ts";
import { type Endpoint, type Service, streamPort } from "../../registry/service.ts";
import { effectivePolicy } from "../clusters/traffic-policy.ts";
import { parseClusterName } from "../names.ts";
import { provenanceOf } from "../provenance.ts";
import { noResources, ownBeside, type Parted, type Resource } from "../resource.ts";
import { type EndpointContext, endpointContext, endpointContextInputs } from "./endpoint-context.ts";
import { type Assignment, loadAssignment } from "./load-assignment.ts";
import { createMemberPool } from "./locality-group.ts";

/** The endpoints of what is not known. */
const nobody: readonly Endpoint[] = [];

type Clusters = readonly Resource<ClusterJson>[];

/** What an EDS cluster asks for. */
interface Question {
  /** Name that it asks by. */
  readonly name: string;
  /** Whose endpoints those are; undefined where the scope has no such service or port. */
  readonly service: Service | undefined;
  readonly cluster: Resource<ClusterJson>;
}

interface Asking {
  readonly clusters: Clusters;
  readonly serviceByHostname: EndpointView["scope"]["serviceByHostname"];
}

/** What the clusters ask for, by the name that they ask by. */
const questionsOf = query("EDS questions", ({ clusters, serviceByHostname }: Asking): readonly Question[] =>
  clusters.map((cluster) => questionOf(cluster, serviceByHostname)).sort((a, b) => byCodePoint(a.name, b.name)),
);

function questionOf(cluster: Resource<ClusterJson>, serviceByHostname: Asking["serviceByHostname"]): Question {
  const name = cluster.json.edsClusterConfig?.serviceName ?? cluster.name;
  const parts = parseClusterName(name);
  const service = serviceByHostname.get(parts?.host ?? "");
  const isKnown = parts !== undefined && service !== undefined && streamPort(service, parts.port) !== undefined;
  return { name, service: isKnown ? service : undefined, cluster };
}

/** What a name asks of its service; undefined for a port that it does not have. */
function askedOf(name: string, service: Service): Pick<Assignment, "port" | "subset"> | undefined {
  const parts = parseClusterName(name);
  const port = parts && streamPort(service, parts.port);
  return parts && port && { port, subset: parts.subset };
}

/** One load assignment for each EDS cluster, by the name that the cluster asks for. */
export function generateEndpoints(
  view: EndpointView,
  clusters: Parted<Resource<ClusterJson>>,
  memo: Memo,
): Parted<Resource<ClusterLoadAssignmentJson>> {
  const shared = sharedAssignments(memo, { view, clusters: clusters.shared });
  return { shared, own: ownAssignments({ view, asking: askingFor(clusters.own, memo), shared }, memo) };
}

interface OwnAsking {
  readonly view: EndpointView;
  /** Those of the class's own clusters that ask for endpoints. */
  readonly asking: Clusters;
  /** What is answered to the others. */
  readonly shared: readonly Resource<ClusterLoadAssignmentJson>[];
}

/** What own clusters are answered that nobody else asks for. */
export function ownAssignments(
  { view, asking, shared }: OwnAsking,
  memo: Memo,
): readonly Resource<ClusterLoadAssignmentJson>[] {
  if (asking.length === 0) return noResources;
  const others = loadAssignments(memo, { view, clusters: asking, side: "own" });
  return ownBeside({ shared, others }, memo);
}

/** Classes that see the same services ask the same, whatever else is among their clusters. */
export const sharedAssignments = query(
  "shared load assignments",
  ({ view, clusters }: Omit<AskingSide, "side">, memo: Memo) => {
    const asking = keptAsking(memo, view.key, edsClusters(memo, { clusters }));
    return loadAssignments(memo, { view, clusters: asking, side: "shared" });
  },
);

const keptAsking = listKeeper<Resource<ClusterJson>>("EDS clusters of views");

/** Those of a few clusters that ask for endpoints: the same list for the same clusters. */
export const askingFor = (clusters: Clusters, memo: Memo): Clusters => {
  const asking = clusters.filter(isEds);
  return asking.length === 0 ? noResources : internList(memo, asking);
};

const isEds = ({ json }: Resource<ClusterJson>): boolean => json.type === "EDS";

const edsClusters = query(
  "EDS clusters",
  ({ clusters }: { readonly clusters: Clusters }): Clusters => clusters.filter(isEds),
);

interface AskingSide {
  readonly view: EndpointView;
  readonly clusters: Clusters;
  readonly side: keyof Parted;
}

const loadAssignments = query("load assignments", ({ view, clusters, side }: AskingSide, memo: Memo) => {
  const { lookups, scope, destinationRule } = view;
  const questions = questionsOf(memo, { clusters, serviceByHostname: scope.serviceByHostname });
  const context = { seen: endpointContext(memo, endpointContextInputs(view, false)), destinationRule };
  return answers(
    memo,
    () => `${side}|${view.key()}`,
    questions,
    context,
    ({ service }) => (service === undefined ? nobody : lookups.endpoints(service)),
  );
});

interface AnswerContext {
  readonly seen: EndpointContext;
  readonly destinationRule: RuleLookup;
}

/** Envoy waits for an answer, so there is one even for what is not known. */
const answers = mappedList(
  "load assignments of clusters",
  (
    { name, service, cluster }: Question,
    endpoints: readonly Endpoint[],
    { seen, destinationRule }: AnswerContext,
    memo: Memo,
  ) =>
    service === undefined
      ? emptyAssignment(memo, { cluster, name })
      : assignment(memo, { seen, service, rule: destinationRule(service), endpoints, name }),
);

interface Unknown {
  readonly cluster: Resource<ClusterJson>;
  readonly name: string;
}

const emptyAssignment = query(
  "empty load assignment",
  ({ cluster, name }: Unknown): Resource<ClusterLoadAssignmentJson> => ({
    name,
    json: { clusterName: name },
    from: cluster.from,
  }),
);

interface Known {
  readonly seen: EndpointContext;
  readonly service: Service;
  readonly rule: MeshDestinationRule | undefined;
  readonly endpoints: readonly Endpoint[];
  readonly name: string;
}

const assignment = query(
  "load assignment",
  ({ seen, service, rule, endpoints, name }: Known, memo: Memo): Resource<ClusterLoadAssignmentJson> => {
    const asked = askedOf(name, service);
    if (asked === undefined) throw new Error(`${name} asks for a port that ${service.hostname} does not have`);
    const { port, subset } = asked;
    // Blocks of the mesh count for clusters, and change nothing about endpoints that are asked for.
    const policy = effectivePolicy(rule, subset, port.port);
    const sniDnat = name.startsWith("outbound_.");
    return {
      name,
      json: loadAssignment(
        { clusterName: name, service, port, subset, rule, policy, sniDnat, dns: false },
        seen,
        memberPool(memo, { endpoints }),
      ),
      from: provenanceOf(service, rule),
    };
  },
);

const memberPool = query("members of a service", ({ endpoints }: { readonly endpoints: readonly Endpoint[] }) =>
  createMemberPool(endpoints),
);
