import type { JsonValue } from "@bufbuild/protobuf";
import type { MetadataJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { ClientTLSSettings } from "../../config/kinds/destination-rule.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { Service } from "../../registry/service.ts";
import { configPath } from "../names.ts";

/** What Istio's telemetry and its tools read of a cluster. */
export interface ClusterMetadata {
  readonly services: readonly Service[];
  /** The rule that shaped the cluster. */
  readonly rule: MeshDestinationRule | undefined;
  readonly subset: string;
  readonly external: boolean;
  /** TLS is originated for somebody else's benefit: Istio's ALPN filter must not touch it. */
  readonly originatesTls: boolean;
}

/** Whether settings open TLS of their own, as opposed to mesh mTLS or none. */
export function originatesTls(settings: ClientTLSSettings | undefined): boolean {
  return settings?.mode === "SIMPLE" || settings?.mode === "MUTUAL";
}

/** `metadata` of a cluster, undefined when there is nothing to say. @see docs/how-istio-does-it/clusters.md#metadata */
export function clusterMetadata(metadata: ClusterMetadata): MetadataJson | undefined {
  const { services, rule, subset, external } = metadata;
  const istio: { [key: string]: JsonValue } = {};
  if (services.length > 0) istio.services = services.map(serviceJson);
  if (rule !== undefined) istio.config = configPath(rule.config.meta);
  if (subset !== "") istio.subset = subset;
  if (external) istio.external = true;
  if (metadata.originatesTls) istio.alpn_override = "false";
  return Object.keys(istio).length === 0 ? undefined : { filterMetadata: { istio } };
}

function serviceJson(service: Service): JsonValue {
  return { host: service.hostname, name: service.attributes.name, namespace: service.attributes.namespace };
}
