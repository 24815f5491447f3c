import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { LoadBalancerSettings } from "../../config/kinds/destination-rule.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { GrpcClusterView } from "../../mesh/views/grpc-views.ts";
import type { MeshLookups, RuleLookup } from "../../mesh/views/views.ts";
import type { Endpoint, Service } from "../../registry/service.ts";
import { type LoadBalancer, loadBalancer } from "../clusters/load-balancer.ts";
import { effectivePolicy } from "../clusters/traffic-policy.ts";
import { altStatName, outboundClusterName } from "../names.ts";
import { provenanceOf } from "../provenance.ts";
import type { Resource } from "../resource.ts";
import { upstreamTls } from "./certificate-provider.ts";
import { streamPorts } from "./stream-ports.ts";

type Clusters = readonly Resource<ClusterJson>[];

/**
 * Every cluster that a program may ask for: one for each port and subset of each service that it sees, sorted by name. All of them have
 * their endpoints by EDS, services of other resolutions none.
 * @see istio 1.30.3 pilot/pkg/networking/grpcgen/cds.go
 */
export function grpcClusters({ outbound, sendsRefusals }: GrpcClusterView, memo: Memo): Clusters {
  const { scope, lookups, destinationRule, key } = outbound.endpoints;
  const { serviceAccounts } = lookups;
  const context = { destinationRule, serviceAccounts, sendsRefusals };
  return inOrder(memo, { lists: ofServices(memo, key(), scope.services, context, lookups.endpoints) });
}

/** Of several services of one host the last is the one that is found by it. */
const inOrder = query("gRPC clusters in order", ({ lists }: { readonly lists: readonly Clusters[] }): Clusters => {
  const byName = new Map(lists.flat().map((cluster) => [cluster.name, cluster]));
  return [...byName.values()].sort((a, b) => byCodePoint(a.name, b.name));
});

interface Context extends Pick<MeshLookups, "serviceAccounts"> {
  readonly destinationRule: RuleLookup;
  readonly sendsRefusals: boolean;
}

const ofServices = mappedList(
  "gRPC clusters of services",
  (service: Service, endpoints: readonly Endpoint[], context: Context, memo: Memo) => {
    const { destinationRule, serviceAccounts, sendsRefusals } = context;
    const rule = destinationRule(service);
    return ofService(memo, { service, rule, accounts: serviceAccounts(service, endpoints), sendsRefusals });
  },
);

interface Inputs {
  readonly service: Service;
  readonly rule: MeshDestinationRule | undefined;
  readonly accounts: readonly string[];
  readonly sendsRefusals: boolean;
}

const ofService = query("gRPC clusters of a service", { accounts: "value" }, (inputs: Inputs): Clusters => {
  const { service, rule } = inputs;
  const subsets = ["", ...(rule?.config.spec.subsets ?? []).map(({ name }) => name)];
  const from = provenanceOf(service, rule);
  return streamPorts(service).flatMap((port) =>
    subsets.map((subset) => {
      const name = outboundClusterName(port, subset, service.hostname);
      return { name, json: clusterJson(name, port, subset, inputs), from };
    }),
  );
});

function clusterJson(name: string, port: number, subset: string, inputs: Inputs): ClusterJson {
  const { rule, accounts, sendsRefusals } = inputs;
  const policy = effectivePolicy(rule, subset, port);
  // The one limit that programs know.
  const maxRequests = policy?.connectionPool?.http?.http2MaxRequests ?? 0;
  return {
    name,
    altStatName: altStatName(name),
    type: "EDS",
    edsClusterConfig: { edsConfig: { ads: {} }, serviceName: name },
    ...balancer(policy?.loadBalancer, sendsRefusals),
    ...(maxRequests > 0 ? { circuitBreakers: { thresholds: [{ maxRequests }] } } : {}),
    // Nothing says of an endpoint whether its program takes mutual TLS, so that only a rule may ask for it.
    ...(policy?.tls?.mode === "ISTIO_MUTUAL" ? { transportSocket: upstreamTls(accounts) } : {}),
  };
}

/** Round robin is what a program does by itself. It has no maglev, whose aim, one host for one hash, a ring has as well. */
function balancer(settings: LoadBalancerSettings | undefined, sendsRefusals: boolean): LoadBalancer {
  if (settings?.consistentHash !== undefined) {
    const hashing = loadBalancer(settings);
    return hashing.lbPolicy === "MAGLEV" && !sendsRefusals ? { lbPolicy: "RING_HASH" } : hashing;
  }
  return settings?.simple === "LEAST_REQUEST" ? { lbPolicy: "LEAST_REQUEST" } : {};
}
