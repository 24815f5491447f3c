import type { DescMessage } from "@bufbuild/protobuf";
import { TrafficExtensionSchema } from "../../gen/istio/extensions/v1alpha1/traffic_extension_pb.ts";
import { WasmPluginSchema } from "../../gen/istio/extensions/v1alpha1/wasm_pb.ts";
import { DestinationRuleSchema } from "../../gen/istio/networking/v1alpha3/destination_rule_pb.ts";
import { EnvoyFilterSchema } from "../../gen/istio/networking/v1alpha3/envoy_filter_pb.ts";
import { GatewaySchema } from "../../gen/istio/networking/v1alpha3/gateway_pb.ts";
import { ServiceEntrySchema } from "../../gen/istio/networking/v1alpha3/service_entry_pb.ts";
import { SidecarSchema } from "../../gen/istio/networking/v1alpha3/sidecar_pb.ts";
import { VirtualServiceSchema } from "../../gen/istio/networking/v1alpha3/virtual_service_pb.ts";
import { WorkloadEntrySchema } from "../../gen/istio/networking/v1alpha3/workload_entry_pb.ts";
import { WorkloadGroupSchema } from "../../gen/istio/networking/v1alpha3/workload_group_pb.ts";
import { ProxyConfigSchema } from "../../gen/istio/networking/v1beta1/proxy_config_pb.ts";
import { AuthorizationPolicySchema } from "../../gen/istio/security/v1beta1/authorization_policy_pb.ts";
import { PeerAuthenticationSchema } from "../../gen/istio/security/v1beta1/peer_authentication_pb.ts";
import { RequestAuthenticationSchema } from "../../gen/istio/security/v1beta1/request_authentication_pb.ts";
import { TelemetrySchema } from "../../gen/istio/telemetry/v1alpha1/telemetry_pb.ts";

/** A kind of configuration that a source may serve. */
export interface McpKind {
  readonly kind: string;
  readonly group: string;
  /** The version that its message belongs to, in which objects are written here. */
  readonly version: string;
  readonly message: DescMessage;
  /** Names of the collections of ResourceSource that hold it, as Istio 1.4 asked for them. Of two with one name the later counts. */
  readonly collections: readonly string[];
  /** What it is called over xDS: sources know one version or the other. Of two with one name the later counts. */
  readonly typeUrls: readonly string[];
}

interface Written {
  /** Newest last. */
  readonly versions: string;
  readonly version: string;
  readonly collections?: readonly string[];
}

function kind(group: string, message: DescMessage, { versions, version, collections = [] }: Written): McpKind {
  const typeUrls = versions.split(" ").map((one) => `${group}/${one}/${message.name}`);
  return { kind: message.name, group, version, message, collections, typeUrls };
}

const networking = (message: DescMessage, versions: string, ...collections: readonly string[]): McpKind =>
  kind("networking.istio.io", message, {
    versions,
    version: "v1alpha3",
    collections: collections.map((name) => `istio/networking/v1alpha3/${name}`),
  });

const security = (message: DescMessage, ...collections: readonly string[]): McpKind =>
  kind("security.istio.io", message, {
    versions: "v1beta1 v1",
    version: "v1beta1",
    collections: collections.map((name) => `istio/security/v1beta1/${name}`),
  });

/**
 * Every kind that can be read from a source. Those that Istio's ResourceSource never had are without collections: a source
 * closes the stream at a collection that it does not know.
 *
 * @see docs/how-istio-does-it/config-stores.md#sources-over-mcp
 */
export const mcpKinds: readonly McpKind[] = [
  networking(ServiceEntrySchema, "v1alpha3 v1", "synthetic/serviceentries", "serviceentries"),
  networking(WorkloadEntrySchema, "v1alpha3 v1"),
  networking(WorkloadGroupSchema, "v1alpha3 v1"),
  networking(VirtualServiceSchema, "v1alpha3 v1", "virtualservices"),
  networking(DestinationRuleSchema, "v1alpha3 v1", "destinationrules"),
  networking(GatewaySchema, "v1alpha3 v1", "gateways"),
  networking(SidecarSchema, "v1alpha3 v1", "sidecars"),
  networking(EnvoyFilterSchema, "v1alpha3", "envoyfilters"),
  kind("networking.istio.io", ProxyConfigSchema, { versions: "v1beta1", version: "v1beta1" }),
  security(AuthorizationPolicySchema, "authorizationpolicies"),
  security(PeerAuthenticationSchema),
  security(RequestAuthenticationSchema),
  kind("telemetry.istio.io", TelemetrySchema, { versions: "v1alpha1 v1", version: "v1alpha1" }),
  kind("extensions.istio.io", WasmPluginSchema, { versions: "v1alpha1", version: "v1alpha1" }),
  kind("extensions.istio.io", TrafficExtensionSchema, { versions: "v1alpha1", version: "v1alpha1" }),
];
