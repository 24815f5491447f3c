import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { ClusterDiscoveryService } from "../../../gen/envoy/service/cluster/v3/cds_pb.ts";
import {
  type DeltaDiscoveryRequest,
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
  type DiscoveryRequest,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { EndpointDiscoveryService } from "../../../gen/envoy/service/endpoint/v3/eds_pb.ts";
import { ListenerDiscoveryService } from "../../../gen/envoy/service/listener/v3/lds_pb.ts";
import { RouteDiscoveryService } from "../../../gen/envoy/service/route/v3/rds_pb.ts";
import { SnapshotService } from "../../../gen/portolan/v1/snapshot_service_pb.ts";
import { labelsOf, type NodeClaims } from "../../snapshot/classifier.ts";
import { type ResourceType, typeOfUrl, typeUrlOf } from "../../snapshot/resource-type.ts";
import type { LoadedRoot } from "../../snapshot/snapshot-reader.ts";
import { deltaNow } from "../delta-answer.ts";
import { subscriptionOf } from "../delta-request.ts";
import type { Front } from "../front.ts";
import type { Refused } from "../outcome.ts";
import { selectResources, wireVersion } from "../select-resources.ts";
import { binaryResources } from "./binary-resources.ts";
import { claimsOf } from "./node-claims.ts";

/**
 * Envoy's unary Fetch methods in the `poll` shape, and `DeltaFetch` in the `stream` shape, in binary over whatever protocol
 * the router speaks. A version that is current gets `already_exists`: an empty answer would say that nothing exists.
 */
export function discoveryServices(front: Front): (router: ConnectRouter) => void {
  const fetch = (type: ResourceType) => (request: DiscoveryRequest) => fetchType(front, type, request);
  return (router) =>
    router
      .rpc(ClusterDiscoveryService.method.fetchClusters, fetch("clusters"))
      .rpc(EndpointDiscoveryService.method.fetchEndpoints, fetch("endpoints"))
      .rpc(ListenerDiscoveryService.method.fetchListeners, fetch("listeners"))
      .rpc(RouteDiscoveryService.method.fetchRoutes, fetch("routes"))
      .rpc(SnapshotService.method.deltaFetch, (request) => deltaFetch(front, request));
}

async function fetchType(front: Front, type: ResourceType, request: DiscoveryRequest): Promise<DiscoveryResponse> {
  const node = claimsOf(request.node);
  if (node === undefined) throw new ConnectError("node has no id", Code.InvalidArgument);
  const loaded = await servedRoot(front, node);
  const placement = await front.place(loaded, node);
  if (placement.kind === "unplaced") throw new ConnectError(placement.reason, Code.NotFound);
  const { classId } = placement;
  const question = { classId, shape: "poll", type, names: request.resourceNames } as const;
  const selection = await selectResources(front.reader, loaded, question);
  if (selection === undefined) throw new ConnectError(`there is no class "${classId}"`, Code.NotFound);
  if (selection.parts.length === 0 && request.resourceNames.length > 0) {
    throw new ConnectError(`no ${type} named ${request.resourceNames.join(", ")}`, Code.NotFound);
  }
  if (selection.version === request.versionInfo) throw new ConnectError("the version is current", Code.AlreadyExists);
  const typeUrl = typeUrlOf(type);
  const values = await binaryResources(front.reader, selection.parts);
  const resources = values.map((value) => ({ typeUrl, value }));
  return create(DiscoveryResponseSchema, { versionInfo: selection.version, typeUrl, resources });
}

async function deltaFetch(front: Front, request: DeltaDiscoveryRequest): Promise<DeltaDiscoveryResponse> {
  const type = typeOfUrl(request.typeUrl);
  if (type === undefined) throw new ConnectError(`no such type: ${request.typeUrl}`, Code.InvalidArgument);
  const node = claimsOf(request.node);
  if (node === undefined) throw new ConnectError("node has no id", Code.InvalidArgument);
  const { resourceNamesSubscribe, resourceNamesUnsubscribe, initialResourceVersions, typeUrl } = request;
  const wanted = subscriptionOf(resourceNamesSubscribe, resourceNamesUnsubscribe, initialResourceVersions);
  const question = { node, typeUrl, ...wanted, version: undefined };
  const delta = await deltaNow(front, await servedRoot(front, node), { type, shape: "stream" }, question);
  if ("kind" in delta) throw toConnectError(delta);
  const values = await binaryResources(front.reader, delta.changed);
  return create(DeltaDiscoveryResponseSchema, {
    systemVersionInfo: delta.version,
    nonce: delta.version,
    typeUrl,
    resources: delta.changed.map(({ name, version }, i) => ({
      name,
      version: wireVersion(version),
      resource: { typeUrl, value: values[i] ?? new Uint8Array() },
    })),
    removedResources: [...delta.removed],
  });
}

async function servedRoot(front: Front, node: NodeClaims): Promise<LoadedRoot> {
  const served = await front.served({ nodeId: node.id, labels: () => labelsOf(node) }).catch((cause: unknown) => {
    front.onError(cause);
    throw new ConnectError("the store cannot be read", Code.Unavailable);
  });
  if (served === undefined) throw new ConnectError("nothing was published yet", Code.Unavailable);
  return served.loaded;
}

const codes = { 400: Code.InvalidArgument, 404: Code.NotFound, 503: Code.Unavailable } as const;

const toConnectError = ({ status, reason }: Refused): ConnectError => new ConnectError(reason, codes[status]);
