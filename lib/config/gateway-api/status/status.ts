/** One condition of a status, as Kubernetes has them. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** Absent: whoever wrote it did not say. */
  readonly observedGeneration?: number;
  readonly reason: string;
  readonly message: string;
  /** Of one that an object has already, as long as its status stays; whoever writes a new one knows the time. */
  readonly lastTransitionTime?: string;
}

/** The status that a controller writes to an object of the Gateway API: plain data, ready to be written as JSON. */
export type GatewayApiStatus = ClassStatus | GatewayStatus | RouteStatus | PolicyStatus;

export interface ClassStatus {
  readonly conditions: readonly Condition[];
}

/** Of a Gateway or a ListenerSet. */
export interface GatewayStatus {
  readonly addresses?: readonly StatusAddress[];
  readonly attachedListenerSets?: number;
  readonly conditions: readonly Condition[];
  readonly listeners?: readonly ListenerStatus[];
}

export interface StatusAddress {
  readonly type: string;
  readonly value: string;
}

export interface ListenerStatus {
  readonly name: string;
  readonly attachedRoutes: number;
  readonly supportedKinds: readonly { readonly group: string; readonly kind: string }[];
  readonly conditions: readonly Condition[];
}

export interface RouteStatus {
  /** Those of other controllers stay as they are. */
  readonly parents: readonly unknown[];
}

export interface PolicyStatus {
  /** Those of other controllers stay as they are. */
  readonly ancestors: readonly unknown[];
}
