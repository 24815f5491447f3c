/** Of an entry that a machine made when it connected: the service account that it has proven. */
export const registeredByAnnotation = "registration.portolan.dev/service-account";

/** Who a machine of a WorkloadEntry is connected to. @see istio 1.30.3 pilot/pkg/autoregistration/controller.go */
export const controllerAnnotation = "istio.io/workloadController";

/** Before the name of a server of Portolan in that annotation. */
export const controllerPrefix = "portolan/";

/** Whether an object of a cluster is there because Portolan has written it: what it says is known from elsewhere, and sooner. */
export const isWrittenBack = (annotations: Readonly<Record<string, string>>): boolean =>
  annotations[registeredByAnnotation] !== undefined &&
  annotations[controllerAnnotation]?.startsWith(controllerPrefix) === true;

/**
 * `networking.istio.io` WorkloadEntry; also the inline endpoint of a ServiceEntry.
 * @see https://istio.io/latest/docs/reference/config/networking/workload-entry/
 */
export interface WorkloadEntry {
  /** IP, FQDN or `unix://` path; absent only where `network` says where to go. */
  readonly address?: string;
  /** Port name → number. */
  readonly ports?: Readonly<Record<string, number>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly network?: string;
  /** `region/zone/subzone`. */
  readonly locality?: string;
  /** Absent: 0, which weighs 1. */
  readonly weight?: number;
  readonly serviceAccount?: string;
}
