import type { MetadataJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { ClientTLSSettings } from "../../config/kinds/destination-rule.ts";
import type { MeshDestinationRule } from "../../mesh/mesh.ts";
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

/** `metadata` of a cluster, absent when there is nothing to say. @see xds-clusters 10 */
export function clusterMetadata(metadata: ClusterMetadata): { readonly metadata?: MetadataJson } {
  const { services, rule, subset, external } = metadata;
  const istio = {
    ...(services.length === 0 ? {} : { services: services.map(serviceJson) }),
    ...(rule === undefined ? {} : { config: configPath(rule.config.meta) }),
    ...(subset === "" ? {} : { subset }),
    ...(external ? { external } : {}),
    ...(metadata.originatesTls ? { alpn_override: "false" } : {}),
  };
  return Object.keys(istio).length === 0 ? {} : { metadata: { filterMetadata: { istio } } };
}

function serviceJson(service: Service): { readonly host: string; readonly name: string; readonly namespace: string } {
  return { host: service.hostname, name: service.attributes.name, namespace: service.attributes.namespace };
}
