import type { WorkloadSelector } from "./selector.ts";

/**
 * `security.istio.io` PeerAuthentication.
 * @see https://istio.io/latest/docs/reference/config/security/peer_authentication/
 */
export interface PeerAuthentication {
  readonly selector?: WorkloadSelector;
  readonly mtls?: MutualTLS;
  /** Workload port as text → setting. */
  readonly portLevelMtls?: Readonly<Record<string, MutualTLS>>;
}

export interface MutualTLS {
  /** Absent: UNSET, the next wider level decides. */
  readonly mode?: "UNSET" | "DISABLE" | "PERMISSIVE" | "STRICT";
}
