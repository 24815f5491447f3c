import type { WorkloadSelector } from "./sidecar.ts";
import type { WorkloadEntry } from "./workload-entry.ts";

export type ServiceEntryResolution = "NONE" | "STATIC" | "DNS" | "DNS_ROUND_ROBIN" | "DYNAMIC_DNS";

/** `networking.istio.io` ServiceEntry. @see https://istio.io/latest/docs/reference/config/networking/service-entry/ */
export interface ServiceEntry {
  readonly hosts: readonly string[];
  readonly addresses?: readonly string[];
  readonly ports?: readonly ServicePort[];
  /** Absent: MESH_EXTERNAL. */
  readonly location?: "MESH_EXTERNAL" | "MESH_INTERNAL";
  /** Absent: NONE. */
  readonly resolution?: ServiceEntryResolution;
  readonly endpoints?: readonly WorkloadEntry[];
  readonly workloadSelector?: WorkloadSelector;
  /** Absent: the mesh's `defaultServiceExportTo`. */
  readonly exportTo?: readonly string[];
  readonly subjectAltNames?: readonly string[];
}

/** Port of a ServiceEntry. */
export interface ServicePort {
  readonly number: number;
  readonly name: string;
  /** As written; absent: sniffed. */
  readonly protocol?: string;
  /** Absent: `number`. */
  readonly targetPort?: number;
}
