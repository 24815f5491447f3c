import type { IstioService } from "./istio-service.ts";
import type { MatchCondition } from "./route-rule.ts";

/**
 * `config.istio.io/v1alpha2` IngressRule: what a legacy Ingress is converted to.
 * @see docs/how-istio-does-it/kind-rules.md#ingressrule
 * @see docs/how-istio-does-it/legacy-v1.md#ingress
 */
export interface IngressRule {
  readonly destination: IstioService;
  readonly precedence?: number;
  readonly port?: number;
  readonly match?: MatchCondition;
  /** `secret.namespace`. */
  readonly tlsSecret?: string;
  /** One of the two. */
  readonly destinationPort?: number;
  readonly destinationPortName?: string;
}
