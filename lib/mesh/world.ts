import type { ProxyBuildSetting } from "../base/proxy-build.ts";
import type { Release } from "../config/compat/compat-settings.ts";
import type { Switches } from "../config/compat/switches.ts";
import type { Config } from "../config/config.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type { MeshNetworks } from "../config/kinds/mesh-networks.ts";
import type { HostAddresses, WantedLookups } from "../config/kinds/resolved-facts.ts";
import type { NetworkGateway, RegistryState } from "../registry/changes/registry-state.ts";
import type { FormName } from "./forms.ts";
import type { GatewayApiWorld } from "./gateway-api/sources.ts";
import type { Proxy } from "./proxy/proxy.ts";

/** 0.7 served VirtualServices and the like over v1, 0.8 does not. @see docs/how-istio-does-it/legacy-v1.md#other-releases */
export type LegacyRelease = "0.7" | "0.8";

/** Where proxies get their certificates: from an agent that speaks SDS, from files beside them, or nowhere: then they speak plain text. */
export type CertificateSource = "sds" | "files" | "none";

/**
 * The compiler's whole input, as a value: what operators wrote and what runs.
 * Every object in it was validated where it came in; `configs` keep the order of their sources (first = primary).
 */
export interface World {
  readonly meshConfig: MeshConfig;
  readonly meshNetworks: MeshNetworks;
  /** Domain suffix of Kubernetes services, `cluster.local`. */
  readonly domain: string;
  /** Istio's kinds and Kubernetes Ingress/IngressClass; one entry per key. */
  readonly configs: readonly Config[];
  readonly registry: RegistryState;
  /** The proxies to compile for: every workload with a proxy, and those named by hand. */
  readonly proxies: readonly Proxy[];
  /** `istio`: proxy-specific parts as Istio writes them; `shared`: the form that lets classes share. */
  readonly compat: FormName;
  /** Which release of Istio is answered like; absent: the newest, as where nobody says it in `portolan.yaml`. */
  readonly release?: Release;
  /** Istio's switches; absent: each as the release has it. */
  readonly switches?: Switches;
  /** Which proxies get the filters that only Istio's own has; absent: `auto`. */
  readonly proxyBuild?: ProxyBuildSetting;
  /** Answers of the v1 API are made as well, as this release gave them; absent: nobody asks for them. */
  readonly legacyApi?: LegacyRelease;
  /** Resources are stored in protobuf's binary form as well; absent: in JSON only. */
  readonly binaryForms?: boolean;
  /** Absent: `sds`. */
  readonly certificates?: CertificateSource;
  /** How long a polling Envoy waits from one poll for routes, or for secrets, to the next; absent: as usual. */
  readonly pollDelayMs?: number;
  /** Absent: as usual, and no Secret or ConfigMap is known. */
  readonly gatewayApi?: GatewayApiWorld;
  /** Gateways between networks that Gateways of the Gateway API stand for; absent: none. */
  readonly declaredGateways?: readonly NetworkGateway[];
  /** What DNS has for host names of such gateways; absent: nothing is known. */
  readonly hostAddresses?: readonly HostAddresses[];
  /** Certificates in ConfigMaps, and lists of revoked ones, in PEM by `namespace/name`: proxies may be given them. Absent: none. */
  readonly trustBundles?: Readonly<Record<string, { readonly ca: string; readonly crl?: string }>>;
  /** What a resolver is to look up for it; absent: nothing. */
  readonly lookups?: WantedLookups;
}
