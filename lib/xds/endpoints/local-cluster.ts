import type { ClusterLoadAssignmentJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_pb.ts";
import { column } from "../../incremental/column.ts";
import { internList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { EndpointView, OwnClusterView, SelfDiscovery } from "../../mesh/views/views.ts";
import { rolloutHashLabel, templateHashLabel } from "../../registry/labels.ts";
import type { Endpoint } from "../../registry/service.ts";
import { localClusterName } from "../names.ts";
import { provenanceOf } from "../provenance.ts";
import type { Resource } from "../resource.ts";
import { endpointContext, endpointContextInputs } from "./endpoint-context.ts";
import { mtlsDecision } from "./endpoint-mtls.ts";
import { createMemberPool, groupByLocality, groupJson } from "./locality-group.ts";
import { sendsUnhealthyEndpoints } from "./locality-setting.ts";
import { selects } from "./select-endpoints.ts";

type Assignments = readonly Resource<ClusterLoadAssignmentJson>[];

interface Row {
  readonly view: EndpointView;
  readonly own: OwnClusterView;
  readonly assignments: Assignments;
}

/** The own load assignments of classes, with that of their local cluster before them where they ask for one. */
export function withLocalClusters(
  rows: { readonly [Field in keyof Row]: readonly Row[Field][] },
  memo: Memo,
  slot: string,
): readonly Assignments[] {
  // Proxies that look for themselves are seldom.
  if (rows.own.every(({ self }) => self === undefined)) return rows.assignments;
  return withLocalCluster(memo, slot, rows);
}

const withLocalCluster = column(
  "own load assignments with local clusters",
  ["own", "view", "assignments"],
  ({ view, own: { self }, assignments }: Row, memo: Memo): Assignments =>
    self === undefined ? assignments : internList(memo, [localAssignment(memo, { view, self }), ...assignments]),
);

interface Inputs {
  readonly view: EndpointView;
  readonly self: SelfDiscovery;
}

/** The endpoints that are like the proxy itself: of its service, its workload and its region. Envoy compares their zones with others'. */
const localAssignment = query(
  "load assignment of a local cluster",
  ({ view, self }: Inputs, memo: Memo): Resource<ClusterLoadAssignmentJson> => {
    const json = { clusterName: localClusterName };
    if (self.target === undefined) return { name: localClusterName, json, from: [] };
    const { service, servicePort: port } = self.target;
    // Of no account is what a rule says of calls to the service: Envoy makes none by this cluster.
    const seen = endpointContext(memo, endpointContextInputs(view, false));
    const selected = selects(
      {
        service,
        port,
        labels: undefined,
        clusterLocal: seen.isClusterLocal(service),
        unhealthyToo: sendsUnhealthyEndpoints(service, undefined, seen.mesh),
        hostnames: false,
      },
      seen.perspective,
      seen.gateways.size > 0,
    );
    const takesMtls = mtlsDecision(seen, undefined, "", port.port);
    const alike = view.lookups.endpoints(service).filter((endpoint) => isAlike(endpoint, self) && selected(endpoint));
    const pool = createMemberPool(alike);
    const members = pool.endpoints.map((endpoint, index) => pool.memberAt(index, takesMtls(endpoint)));
    const groups = groupByLocality(members).map((group) => groupJson(group, seen.localityOf));
    return {
      name: localClusterName,
      json: groups.length === 0 ? json : { ...json, endpoints: groups },
      from: provenanceOf(service, undefined),
    };
  },
);

function isAlike({ workloadName, labels, locality }: Endpoint, self: SelfDiscovery): boolean {
  return (
    workloadName === self.workload &&
    (labels[templateHashLabel] ?? "") === self.templateHash &&
    (labels[rolloutHashLabel] ?? "") === self.rolloutHash &&
    // A proxy that does not say where it is has no region, and neither have those that are like it.
    (locality.label.split("/")[0] ?? "") === self.region
  );
}
