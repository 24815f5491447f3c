import { ClusterDiscoveryService } from "../../../gen/envoy/service/cluster/v3/cds_pb.ts";
import { EndpointDiscoveryService } from "../../../gen/envoy/service/endpoint/v3/eds_pb.ts";
import { ExtensionConfigDiscoveryService } from "../../../gen/envoy/service/extension/v3/config_discovery_pb.ts";
import { ListenerDiscoveryService } from "../../../gen/envoy/service/listener/v3/lds_pb.ts";
import { RouteDiscoveryService } from "../../../gen/envoy/service/route/v3/rds_pb.ts";
import { DeltaQuestionSchema, DiscoveryQuestionSchema } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { SnapshotService } from "../../../gen/portolan/v1/snapshot_service_pb.ts";
import type { ResourceType } from "../../snapshot/resource-type.ts";
import type { Front } from "../front.ts";
import { type FetchServices, fetchType } from "./answers.ts";
import { type BinarySecrets, callOf, type DiscoveryCall, type Rpc, type SecretCallServices } from "./calls.ts";
import { type CertificateServices, certificateCall } from "./certificate-call.ts";
import { type DeltaFetchServices, deltaFetch } from "./delta-fetch.ts";

/** What Connect's and gRPC's unary calls are answered from. */
export type DiscoveryServices = FetchServices &
  DeltaFetchServices &
  CertificateServices &
  SecretCallServices &
  Pick<Front, "authority">;

/** Envoy's unary Fetch methods, `DeltaFetch`, and `CreateCertificate` where the front is a CA. @param secrets absent: these are told in JSON only */
export function discoveryCalls(front: DiscoveryServices, secrets?: BinarySecrets): readonly DiscoveryCall[] {
  const { pollBytes, deltaBytes } = front.limits;
  const fetch = (type: ResourceType, rpc: Rpc<typeof ClusterDiscoveryService.method.fetchClusters.output>) =>
    callOf(front, rpc, type, pollBytes, DiscoveryQuestionSchema, (question, call) =>
      fetchType(front, type, question, call),
    );
  return [
    fetch("clusters", ClusterDiscoveryService.method.fetchClusters),
    fetch("endpoints", EndpointDiscoveryService.method.fetchEndpoints),
    fetch("listeners", ListenerDiscoveryService.method.fetchListeners),
    fetch("routes", RouteDiscoveryService.method.fetchRoutes),
    fetch("extension_configs", ExtensionConfigDiscoveryService.method.fetchExtensionConfigs),
    callOf(front, SnapshotService.method.deltaFetch, undefined, deltaBytes, DeltaQuestionSchema, (question, call) =>
      deltaFetch(front, question, call, secrets?.write),
    ),
    ...(secrets === undefined ? [] : [secrets.call(front)]),
    ...(front.authority === undefined ? [] : [certificateCall(front, front.authority)]),
  ];
}
