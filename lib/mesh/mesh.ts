import type { ProxyBuildSetting } from "../base/proxy-build.ts";
import type { Config } from "../config/config.ts";
import type { Gateway } from "../config/kinds/gateway.ts";
import type { RegistryState } from "../registry/changes/registry-state.ts";
import type { Form } from "./forms.ts";
import type { ObjectStatus } from "./gateway-api/object-status.ts";
import type { DestinationRuleIndex } from "./index/destination-rule-index.ts";
import type { EnvoyFilterIndex } from "./index/envoy-filter-index.ts";
import type { NetworkIndex } from "./index/network-index.ts";
import type { PeerAuthenticationIndex } from "./index/peer-authentication.ts";
import type { ServedWorkload } from "./index/policy-attachment.ts";
import type { ServiceIndex } from "./index/service-index.ts";
import type { SidecarIndex } from "./index/sidecar-index.ts";
import type { VirtualServiceIndex } from "./index/virtual-service-index.ts";
import type { MeshSettings } from "./mesh-settings.ts";
import type { MeshLookups, ServiceLookups, WorkloadPolicies } from "./views/views.ts";

/**
 * The world, indexed. An index is the same object in the next mesh as long as nothing changed that it was made from.
 */
export interface Mesh {
  readonly config: MeshSettings;
  readonly domain: string;
  readonly form: Form;
  readonly proxyBuild: ProxyBuildSetting;
  readonly registry: RegistryState;
  readonly services: ServiceIndex;
  readonly virtualServices: VirtualServiceIndex;
  readonly destinationRules: DestinationRuleIndex;
  readonly sidecars: SidecarIndex;
  /** Oldest first, with those made from Ingresses. */
  readonly gateways: readonly Config<Gateway>[];
  readonly peerAuthentication: PeerAuthenticationIndex;
  /** Policies of a workload, with those that objects of releases before 1.6 stand for. */
  readonly policies: (workload: ServedWorkload) => WorkloadPolicies;
  readonly envoyFilters: EnvoyFilterIndex;
  readonly networks: NetworkIndex;
  /** Answers that depend on no proxy. */
  readonly lookups: MeshLookups;
  /** Those of them that neither endpoints nor policies can change. */
  readonly serviceLookups: ServiceLookups;
  /** What is told to the objects of the Gateway API; worked out when it is asked for. */
  readonly statuses: () => readonly ObjectStatus[];
}
