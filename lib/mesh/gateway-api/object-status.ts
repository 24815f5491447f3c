import type { Config } from "../../config/config.ts";
import type { ConfigKey } from "../../config/diagnostic.ts";
import { fieldsOf } from "../../config/untyped.ts";
import type { Condition } from "./conditions.ts";

/** The status that a controller writes to an object: plain data, ready to be written as JSON. */
export interface ObjectStatus {
  readonly key: ConfigKey;
  /** Generation of the object that it speaks of. */
  readonly generation: number;
  readonly status: GatewayStatus | RouteStatus | PolicyStatus | ClassStatus;
}

export interface ClassStatus {
  readonly conditions: readonly Condition[];
}

/** Of a Gateway or a ListenerSet. */
export interface GatewayStatus {
  readonly addresses?: readonly { readonly type: string; readonly value: string }[];
  readonly attachedListenerSets?: number;
  readonly conditions: readonly Condition[];
  readonly listeners?: readonly ListenerStatus[];
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

/** As an API server counts: from 1. */
export const generationOf = ({ meta }: Config): number => meta.generation ?? 1;

/** A member of the status that an object has; nobody has validated it. */
export const writtenStatus = ({ status }: Config, member: string): unknown => fieldsOf(status)[member];
