/** Of an entry that a machine made when it connected: the service account that it has proven. */
export const registeredByAnnotation = "registration.portolan.dev/service-account";

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
