import type { SessionPersistence } from "./http-route.ts";
import type { LocalObjectReference, PolicyTarget } from "./reference.ts";

/** `gateway.networking.k8s.io` ReferenceGrant: who may name objects of its namespace. */
export interface ReferenceGrant {
  readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
  readonly to: readonly GrantTarget[];
}

export interface GrantTarget {
  readonly group: string;
  readonly kind: string;
  /** Absent: every object of the kind. */
  readonly name?: string;
}

/** `gateway.networking.k8s.io` BackendTLSPolicy: how gateways and sidecars speak TLS to a service. */
export interface BackendTLSPolicy {
  readonly targetRefs: readonly PolicyTarget[];
  readonly validation: {
    readonly caCertificateRefs?: readonly LocalObjectReference[];
    /** `System`, or `domain/name`. */
    readonly wellKnownCACertificates?: string;
    readonly hostname: string;
    readonly subjectAltNames?: readonly SubjectAltName[];
  };
  readonly options?: Readonly<Record<string, string>>;
}

export interface SubjectAltName {
  readonly type: "Hostname" | "URI";
  readonly hostname?: string;
  readonly uri?: string;
}

/** `gateway.networking.x-k8s.io` XBackendTrafficPolicy. */
export interface BackendTrafficPolicy {
  readonly targetRefs: readonly LocalObjectReference[];
  readonly retryConstraint?: RetryConstraint;
  readonly sessionPersistence?: SessionPersistence;
}

export interface RetryConstraint {
  /** Percent of the requests within an interval that may be retries. */
  readonly budget: { readonly percent: number; readonly interval: string };
  readonly minRetryRate: { readonly count?: number; readonly interval?: string };
}
