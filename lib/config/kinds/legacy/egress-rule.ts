import type { IstioService } from "./istio-service.ts";

/** `config.istio.io/v1alpha2` EgressRule. @see docs/how-istio-does-it/kind-rules.md#egressrule */
export interface EgressRule {
  /** Only `service`: a domain, a wildcard domain or an IPv4 block. */
  readonly destination: IstioService;
  readonly ports: readonly EgressPort[];
  /** Refused. */
  readonly useEgressProxy?: boolean;
}

export interface EgressPort {
  readonly port: number;
  /** Any case. */
  readonly protocol: string;
}
