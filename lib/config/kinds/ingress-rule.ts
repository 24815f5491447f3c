import type { IstioService } from "./istio-service.ts";
import type { MatchCondition } from "./route-rule.ts";

/** `config.istio.io/v1alpha2` IngressRule: what a legacy Ingress is converted to. @see model-config 9.5, v1-api 11 */
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
