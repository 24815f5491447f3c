import type { IstioService } from "./istio-service.ts";

/** `config.istio.io/v1alpha2` DestinationPolicy. @see docs/how-istio-does-it/kind-rules.md#destinationpolicy */
export interface DestinationPolicy {
  readonly destination: IstioService;
  readonly source?: IstioService;
  readonly loadBalancing?: LoadBalancing;
  readonly circuitBreaker?: CircuitBreaker;
  readonly custom?: Readonly<Record<string, unknown>>;
}

export interface LoadBalancing {
  readonly name?: "ROUND_ROBIN" | "LEAST_CONN" | "RANDOM";
  readonly custom?: Readonly<Record<string, unknown>>;
}

export interface CircuitBreaker {
  readonly simpleCb?: SimpleCircuitBreakerPolicy;
  readonly custom?: Readonly<Record<string, unknown>>;
}

export interface SimpleCircuitBreakerPolicy {
  readonly maxConnections?: number;
  readonly httpMaxPendingRequests?: number;
  readonly httpMaxRequests?: number;
  readonly sleepWindow?: string;
  readonly httpConsecutiveErrors?: number;
  readonly httpDetectionInterval?: string;
  readonly httpMaxRequestsPerConnection?: number;
  readonly httpMaxEjectionPercent?: number;
  readonly httpMaxRetries?: number;
}
