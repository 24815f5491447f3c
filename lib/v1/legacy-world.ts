import type { Config } from "../config/config.ts";
import type { DestinationRule } from "../config/kinds/destination-rule.ts";
import type { Gateway } from "../config/kinds/gateway.ts";
import type { AuthenticationPolicy } from "../config/kinds/legacy/authentication-policy.ts";
import type { DestinationPolicy } from "../config/kinds/legacy/destination-policy.ts";
import type { EgressRule } from "../config/kinds/legacy/egress-rule.ts";
import type { IngressRule } from "../config/kinds/legacy/ingress-rule.ts";
import type {
  EndUserAuthenticationPolicySpec,
  EndUserAuthenticationPolicySpecBinding,
  HTTPAPISpec,
  HTTPAPISpecBinding,
  QuotaSpec,
  QuotaSpecBinding,
} from "../config/kinds/legacy/mixer-client.ts";
import type { RouteRule } from "../config/kinds/legacy/route-rule.ts";
import type { ServiceEntry } from "../config/kinds/service-entry.ts";
import type { VirtualService } from "../config/kinds/virtual-service.ts";
import type { Protocol } from "../registry/service.ts";

/** What v1 documents are made from: the part of a mesh that releases up to 0.8 knew, in their notions. */
export interface LegacyWorld extends LegacyMesh {
  /** In the order in which the registry answers. */
  readonly instances: readonly LegacyInstance[];
}

/** The same without what runs: all that a document depends on beside what runs at its node's own address. */
export interface LegacyMesh {
  readonly services: readonly LegacyService[];
  /** Ports of probes and the like, by address of the node; `*` for every address. */
  readonly managementPorts: readonly ManagementPort[];
  readonly mesh: LegacyMeshConfig;
  /** Suffix of the names of services, `cluster.local`. */
  readonly domain: string;
  readonly configs: LegacyConfigs;
  /** Answers are those of release 0.7, which served these objects over v1; absent: those of 0.8, which did not. */
  readonly v1alpha3?: V1Alpha3Configs;
}

/** In the order in which the store answers. */
export interface LegacyConfigs {
  readonly routeRules: readonly Config<RouteRule>[];
  readonly egressRules: readonly Config<EgressRule>[];
  readonly destinationPolicies: readonly Config<DestinationPolicy>[];
  readonly ingressRules: readonly Config<IngressRule>[];
  readonly authenticationPolicies: readonly Config<AuthenticationPolicy>[];
  readonly httpApiSpecs: readonly Config<HTTPAPISpec>[];
  readonly httpApiSpecBindings: readonly Config<HTTPAPISpecBinding>[];
  readonly quotaSpecs: readonly Config<QuotaSpec>[];
  readonly quotaSpecBindings: readonly Config<QuotaSpecBinding>[];
}

/**
 * What release 0.7 served over v1 and 0.8 did not any more: objects of `networking.istio.io/v1alpha3`, and the way in which
 * end users were authenticated before Policy objects. In the order in which the store answers.
 *
 * @see docs/how-istio-does-it/legacy-v1.md#other-releases
 */
export interface V1Alpha3Configs {
  readonly virtualServices: readonly Config<VirtualService>[];
  readonly destinationRules: readonly Config<DestinationRule>[];
  readonly gateways: readonly Config<Gateway>[];
  /** ExternalServices of that time. */
  readonly serviceEntries: readonly Config<ServiceEntry>[];
  readonly endUserSpecs: readonly Config<EndUserAuthenticationPolicySpec>[];
  readonly endUserBindings: readonly Config<EndUserAuthenticationPolicySpecBinding>[];
}

export const noLegacyConfigs: LegacyConfigs = {
  routeRules: [],
  egressRules: [],
  destinationPolicies: [],
  ingressRules: [],
  authenticationPolicies: [],
  httpApiSpecs: [],
  httpApiSpecBindings: [],
  quotaSpecs: [],
  quotaSpecBindings: [],
};

export interface LegacyService {
  readonly hostname: string;
  /** "": none. */
  readonly address: string;
  /** An alias of a name outside the mesh (ExternalName). */
  readonly external: boolean;
  /** Traffic goes to the address that the client has chosen (headless). */
  readonly loadBalancingDisabled: boolean;
  readonly ports: readonly LegacyPort[];
  readonly serviceAccounts: readonly string[];
}

export interface LegacyPort {
  /** "": the only port of a service may have no name. */
  readonly name: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** From the service's annotation; INHERIT: the mesh decides. */
  readonly authenticationPolicy: "INHERIT" | "NONE" | "MUTUAL_TLS";
}

/** One endpoint behind one port of a service. */
export interface LegacyInstance {
  readonly service: LegacyService;
  readonly servicePort: LegacyPort;
  readonly address: string;
  /** Port that the workload listens on. */
  readonly port: number;
  readonly labels: Readonly<Record<string, string>>;
  /** `region/zone`, "" when unknown. */
  readonly availabilityZone: string;
}

export interface ManagementPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: Protocol;
}

/**
 * The settings of 0.8 that documents depend on; durations in milliseconds.
 * @see docs/how-istio-does-it/legacy-v1.md#settings
 */
export interface LegacyMeshConfig {
  /** "": no Mixer. */
  readonly mixerCheckServer: string;
  readonly mixerReportServer: string;
  readonly disablePolicyChecks: boolean;
  /** 0: traffic is not captured. */
  readonly proxyListenPort: number;
  /** 0: no explicit HTTP proxy. */
  readonly proxyHttpPort: number;
  readonly connectTimeoutMs: number;
  readonly ingressClass: string;
  /** Name of the ingress service, without namespace. */
  readonly ingressService: string;
  readonly ingressControllerMode: "OFF" | "DEFAULT" | "STRICT";
  readonly authPolicy: "NONE" | "MUTUAL_TLS";
  readonly rdsRefreshDelayMs: number;
  readonly enableTracing: boolean;
  /** "": no access log. */
  readonly accessLogFile: string;
  /** Full host names. */
  readonly mtlsExcludedServices: readonly string[];
  /** Connections to the control plane and to Mixer. */
  readonly controlPlaneAuthPolicy: "NONE" | "MUTUAL_TLS";
  /** Identities of Mixer; empty: not configured. */
  readonly mixerIdentities: readonly string[];
}

/** Defaults of release 0.8. */
export const defaultLegacyMeshConfig: LegacyMeshConfig = {
  mixerCheckServer: "",
  mixerReportServer: "",
  disablePolicyChecks: false,
  proxyListenPort: 15001,
  proxyHttpPort: 0,
  connectTimeoutMs: 1000,
  ingressClass: "istio",
  ingressService: "",
  ingressControllerMode: "STRICT",
  authPolicy: "NONE",
  rdsRefreshDelayMs: 1000,
  enableTracing: true,
  accessLogFile: "/dev/stdout",
  mtlsExcludedServices: [],
  controlPlaneAuthPolicy: "NONE",
  mixerIdentities: [],
};

/** Is there any Mixer to talk to? */
export const usesMixer = (mesh: LegacyMeshConfig): boolean =>
  mesh.mixerCheckServer !== "" || mesh.mixerReportServer !== "";
