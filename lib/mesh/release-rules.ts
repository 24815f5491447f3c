import { type Release, releases } from "../config/compat/compat-settings.ts";
import type { CompliancePolicy, Switches } from "../config/compat/switches.ts";
import { query } from "../incremental/query.ts";

/**
 * Where releases of Istio answer the same objects otherwise. Whatever differs between releases differs by one of these rules, which
 * docs/releases.md describes under the same names; no other place asks which release is meant. A field that a release brought
 * is no rule: it is heeded in every release.
 */
export interface ReleaseRules {
  /**
   * 1.30: endpoints that are not ready are left out.
   * 1.31: they are sent as unhealthy, unless outlier detection asks for a minimum of healthy ones, and clusters without a panic
   * threshold of their own get one of zero. `PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS` decides.
   */
  readonly sendsUnreadyEndpoints: boolean;
  /**
   * 1.30: a gateway that was deployed for a Gateway of the Gateway API takes Istio's Gateways of every namespace.
   * 1.31: of its own namespace alone. `PILOT_ENABLE_STRICT_GATEWAY_MERGING=false` brings them back.
   */
  readonly mergesGatewaysAcrossNamespaces: boolean;
  /**
   * 1.30: where the first label of a failover priority is the network, endpoints of other networks are of the last priority.
   * 1.31: the network comes before region and zone, as a preference.
   */
  readonly prefersNetworkInFailover: boolean;
  /** Of an HTTPRoute's rule without backends. 1.30: 404. 1.31: 500. */
  readonly statusWithoutBackends: 404 | 500;
  /**
   * A subset that says nothing of TLS. 1.30: which of its endpoints are called with mTLS is as if no rule said anything of TLS.
   * 1.31: as the rule's policy of the host says.
   */
  readonly endpointTlsOfHostForSubsets: boolean;
  /**
   * A DestinationRule, and a BackendTLSPolicy or XBackendTrafficPolicy, for one host. 1.30: the older one counts.
   * 1.31: fields of the rule count, and the policy fills what the rule leaves out, block by block and port by port.
   */
  readonly fillsRulesFromBackendPolicies: boolean;
  /** The interval of an XBackendTrafficPolicy's retry budget. 1.30: is not heeded. 1.31: is, 10 s by default. */
  readonly readsBudgetIntervalOfBackendPolicies: boolean;
  /** Of hosts that are resolved as they are asked for. 1.30: in IPv4 alone. 1.31: in the families of the proxy's addresses. */
  readonly resolvesInFamiliesOfProxy: boolean;
  /** The route table of a gRPC program. 1.30: all hosts of the port. 1.31: the host asked for, and the wildcards that match it. */
  readonly grpcTablesOfAskedHost: boolean;
  /** What asks a provider of secrets. 1.30: names no authority. 1.31: names the host of the provider's service as authority. */
  readonly namesSecretProviderAsAuthority: boolean;
  /**
   * An EnvoyFilter's `proxyVersion` of more than 1024 characters. 1.30: is matched like any other.
   * 1.31: its patch matches no proxy.
   */
  readonly boundsProxyVersion: boolean;
  /**
   * `~/*` beside other hosts of a Sidecar's egress listener. 1.30: says nothing. 1.31: excludes everything.
   */
  readonly excludesEverythingByTilde: boolean;
  /**
   * TCPRoutes, and listeners for TCP. 1.30: count only where `PILOT_ENABLE_ALPHA_GATEWAY_API` says so. 1.31: always, as v1.
   */
  readonly tcpRoutesAreStable: boolean;
  /**
   * An HTTPS or TLS listener of the Gateway API that says nothing of TLS. 1.30: a server without TLS. 1.31: no server.
   */
  readonly needsTlsOfSecureListeners: boolean;
  /**
   * Listeners of the Gateway API that have one port and host, or protocols that no port can share. 1.30: each is taken.
   * 1.31: the first one is taken, the Gateway's before those of ListenerSets, and the others are refused.
   */
  readonly refusesConflictingListeners: boolean;
  /**
   * What is written to Gateways and ListenerSets. 1.30: they are accepted whatever becomes of their listeners.
   * 1.31: acceptance follows from the listeners and from `parametersRef`, references of the Gateway are told of, and reasons name
   * authorities of clients apart from certificates.
   */
  readonly reportsListenersOnGateways: boolean;
  /**
   * Gateways start a span for each call that they make. 1.30: unless `PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY=false`. 1.31: always.
   */
  readonly spawnsUpstreamSpans: boolean;
  /**
   * `outlierDetectionHttpErrorCodes`. 1.31, which brought it: is read, and responses with status 5xx count. 1.32: those with the stated
   * codes count.
   */
  readonly countsStatedErrorCodes: boolean;
  /**
   * A workload under policies of several CUSTOM providers. False: every request is refused. True: each provider is asked.
   * Every release: as `PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS` says, false by default.
   */
  readonly allowsSeveralAuthorizers: boolean;
  /** How many hosts a proxy keeps that were looked up for ALLOW_ANY_DYNAMIC_DNS: `PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS`. */
  readonly dynamicDnsMaxHosts: number;
  /** What every TLS context has to comply with, in every release: `COMPLIANCE_POLICY`; "": nothing. */
  readonly compliancePolicy: CompliancePolicy | "";
}

interface Inputs {
  readonly release: Release;
  readonly switches: Switches;
}

const reaches = (release: Release, since: Release): boolean => releases.indexOf(release) >= releases.indexOf(since);

/** The rules of a release, where switches say otherwise as they say; one object for the same release and switches. */
export const releaseRules = query(
  "release rules",
  { switches: "value" },
  ({ release, switches }: Inputs): ReleaseRules => {
    const since31 = reaches(release, "1.31");
    return {
      sendsUnreadyEndpoints: since31 && (switches.PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS ?? true),
      mergesGatewaysAcrossNamespaces: !(since31 && (switches.PILOT_ENABLE_STRICT_GATEWAY_MERGING ?? true)),
      prefersNetworkInFailover: since31,
      statusWithoutBackends: since31 ? 500 : 404,
      endpointTlsOfHostForSubsets: since31,
      fillsRulesFromBackendPolicies: since31,
      readsBudgetIntervalOfBackendPolicies: since31,
      resolvesInFamiliesOfProxy: since31,
      grpcTablesOfAskedHost: since31,
      namesSecretProviderAsAuthority: since31,
      boundsProxyVersion: since31,
      excludesEverythingByTilde: since31,
      tcpRoutesAreStable: since31,
      needsTlsOfSecureListeners: since31,
      refusesConflictingListeners: since31,
      reportsListenersOnGateways: since31,
      spawnsUpstreamSpans: since31 || (switches.PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY ?? true),
      countsStatedErrorCodes: reaches(release, "1.32"),
      allowsSeveralAuthorizers: switches.PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS ?? false,
      dynamicDnsMaxHosts: switches.PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS ?? 1024,
      compliancePolicy: switches.COMPLIANCE_POLICY ?? "",
    };
  },
);
