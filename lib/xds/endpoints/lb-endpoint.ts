import type { AddressJson } from "../../../gen/envoy/config/core/v3/address_pb.ts";
import type { MetadataJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { HealthStatusJson } from "../../../gen/envoy/config/core/v3/health_check_pb.ts";
import type { LbEndpointJson } from "../../../gen/envoy/config/endpoint/v3/endpoint_components_pb.ts";
import type { NetworkGateway } from "../../registry/changes/registry-state.ts";
import type { Endpoint, HealthStatus } from "../../registry/service.ts";

/** Label that marks a workload as going away, whatever its readiness says. */
const drainingLabel = "istio.io/draining";

/** Health as Envoy has it; the last never reaches an answer. */
const envoyHealth: Readonly<Record<HealthStatus, HealthStatusJson>> = {
  Healthy: "HEALTHY",
  Unhealthy: "UNHEALTHY",
  Draining: "DRAINING",
  Terminating: "DRAINING",
};

const tlsModeMatch = { tlsMode: "istio" };

/** Weight of an endpoint that states one; every endpoint weighs at least 1. */
function weightOf(endpoint: Endpoint): number {
  return endpoint.weight > 0 ? endpoint.weight : 1;
}

export function isDraining(endpoint: Endpoint): boolean {
  return endpoint.health === "Draining" || (endpoint.labels[drainingLabel] ?? "") !== "";
}

/** What Istio's proxies report telemetry by, and what is written of it. */
interface Workload {
  readonly workloadName: string;
  readonly namespace: string;
  readonly canonicalName: string;
  readonly canonicalRevision: string;
  readonly clusterId: string;
  readonly mtls: boolean;
  readonly metadata: MetadataJson;
}

/** Makes the metadata of endpoints: one object for those of a workload that come one after the other. */
export type MetadataPool = (endpoint: Endpoint, mtls: boolean) => MetadataJson;

/** @see docs/how-istio-does-it/endpoints.md#fields-of-an-endpoint */
export function createMetadataPool(): MetadataPool {
  let last: Workload | undefined;
  return (endpoint, mtls) => {
    const { labels, workloadName, namespace } = endpoint;
    const { clusterId } = endpoint.locality;
    const canonicalName =
      labels["service.istio.io/canonical-name"] ?? labels["app.kubernetes.io/name"] ?? labels.app ?? workloadName;
    const canonicalRevision =
      labels["service.istio.io/canonical-revision"] ?? labels["app.kubernetes.io/version"] ?? labels.version ?? "";
    // The parts are compared, and no text made of them: a mesh has more endpoints than anything else.
    if (
      last?.workloadName === workloadName &&
      last.canonicalRevision === canonicalRevision &&
      last.canonicalName === canonicalName &&
      last.namespace === namespace &&
      last.clusterId === clusterId &&
      last.mtls === mtls
    )
      return last.metadata;
    const revision = canonicalRevision === "latest" ? "" : canonicalRevision;
    // Unknown parts are empty; without a known workload only the cluster is left.
    const istio = { workload: [workloadName, namespace, canonicalName, revision, clusterId].join(";") };
    const metadata = { filterMetadata: mtls ? { "envoy.transport_socket_match": tlsModeMatch, istio } : { istio } };
    last = { workloadName, namespace, canonicalName, canonicalRevision, clusterId, mtls, metadata };
    return metadata;
  };
}

function socketAddress(address: string, port: number): AddressJson {
  return { socketAddress: { address, portValue: port } };
}

/** A socket path where the endpoint has one, else its first address. */
function addressOf(endpoint: Endpoint): AddressJson {
  if (endpoint.unixPath !== "") return { pipe: { path: endpoint.unixPath.replace(/^unix:\/\//, "") } };
  return socketAddress(endpoint.addresses[0] ?? "", endpoint.port);
}

/**
 * One endpoint of a load assignment. Written without spreads: a mesh has more of these than of anything else.
 *
 * @param mtls whether clients speak Istio's mTLS to it: it then matches the first transport socket of its cluster
 */
export function lbEndpoint(endpoint: Endpoint, mtls: boolean, metadataOf: MetadataPool): LbEndpointJson {
  const metadata = metadataOf(endpoint, mtls);
  const loadBalancingWeight = weightOf(endpoint);
  if (!endpoint.hasHealth) return { endpoint: { address: addressOf(endpoint) }, loadBalancingWeight, metadata };
  return {
    endpoint: { address: addressOf(endpoint) },
    healthStatus: isDraining(endpoint) ? "DRAINING" : envoyHealth[endpoint.health],
    loadBalancingWeight,
    metadata,
  };
}

/** The address of another network's gateway in place of the endpoints behind it. */
export function gatewayEndpoint(gateway: NetworkGateway, weight: number): LbEndpointJson {
  return {
    endpoint: { address: socketAddress(gateway.address, gateway.port) },
    loadBalancingWeight: Math.max(1, weight),
    metadata: {
      filterMetadata: {
        "envoy.transport_socket_match": tlsModeMatch,
        istio: { workload: `;;;;${gateway.clusterId}` },
      },
    },
  };
}
