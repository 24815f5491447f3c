import type { Config } from "../../config/config.ts";
import type { Service } from "../../registry/service.ts";
import {
  parentNamespaceAnnotation,
  serviceAccountAnnotation,
  servicesAnnotation,
} from "../gateway-api/made-objects.ts";

/** The services that a Gateway is for. */
export interface BoundServices {
  /** `namespace/host`. */
  readonly names: ReadonlySet<string>;
}

export const noBound: BoundServices = { names: new Set() };

/** The services whose workloads a Gateway is for, as those of the Gateway API are; undefined: its selector says which. */
export function boundServices(gateway: Config): BoundServices | undefined {
  const { annotations, namespace } = gateway.meta;
  const written = annotations[servicesAnnotation];
  if (written === undefined) return undefined;
  const of = annotations[parentNamespaceAnnotation] || namespace;
  return { names: new Set(written.split(",").map((host) => `${of}/${host}`)) };
}

/** Whether a Gateway is for workloads that were deployed for it, as those of the Gateway API without addresses of services are. */
export const isForDeployed = (gateway: Config): boolean =>
  boundServices(gateway) !== undefined && gateway.meta.annotations[serviceAccountAnnotation] !== undefined;

export const isBoundTo = ({ names }: BoundServices, { hostname, attributes }: Service): boolean =>
  names.has(`${attributes.namespace}/${hostname}`);
