/**
 * Settings of release 0.8's MeshConfig that later releases dropped. Only answers of the v1 API depend on them.
 * @see docs/how-istio-does-it/legacy-v1.md#mixer
 * @see docs/how-istio-does-it/legacy-v1.md#settings
 */
export interface LegacyMeshSettings {
  /** `host:port`; stands in for both servers where neither is named. */
  readonly mixerAddress?: string;
  /** `host:port`; "": no policy checks. */
  readonly mixerCheckServer?: string;
  /** `host:port`; "": no reports. */
  readonly mixerReportServer?: string;
  readonly disablePolicyChecks?: boolean;
  /** Mutual TLS between all workloads; a Policy, or a service's `auth.istio.io/<port>` annotation, goes before it. */
  readonly authPolicy?: "NONE" | "MUTUAL_TLS";
  /** How often an Envoy asks for its routes. */
  readonly rdsRefreshDelay?: string;
  /** Full host names. */
  readonly mtlsExcludedServices?: readonly string[];
}
