/** Switches of the Gateway API, as a control plane has them. */
export interface GatewayApiSettings {
  /** Classes that are there although no GatewayClass says so. */
  readonly classNames: readonly string[];
  /** Of the GatewayClasses that are ours, and of the statuses that are. */
  readonly controllerName: string;
  /** TCPRoutes, TCP listeners and XBackendTrafficPolicies, which Istio reads where `PILOT_ENABLE_ALPHA_GATEWAY_API` says so. */
  readonly alphaKinds: boolean;
  /**
   * Where Secrets are looked for: in the sources alone, as Istio looks for them in its cluster, or also `elsewhere`: one that
   * no source holds is taken to be given to `portolan secret apply`, since sources are no place for secrets.
   */
  readonly secrets: "sources" | "elsewhere";
}

export const defaultGatewayApiSettings: GatewayApiSettings = {
  classNames: ["istio", "portolan"],
  controllerName: "istio.io/gateway-controller",
  alphaKinds: false,
  secrets: "elsewhere",
};
