import type { WorkloadSelector } from "./selector.ts";

/** `security.istio.io` PeerAuthentication. @see model-config 7.1 */
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
