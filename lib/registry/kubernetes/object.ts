import type { Origin } from "../../base/diagnostic.ts";
import { defaultCreationTimeMs } from "../../config/config.ts";

/**
 * A Kubernetes object as the API server or a file gives it, with the place it came from. Only the envelope is known:
 * whoever reads the rest uses the readers below, because nobody has validated it.
 */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly origin: Origin;
  readonly [field: string]: unknown;
}

export interface ObjectMeta {
  readonly name: string;
  /** Absent for cluster-scoped kinds, and in files that leave it to the reader. */
  readonly namespace?: string;
  /** `labels`, `annotations`, `creationTimestamp` and so on, as written. */
  readonly [field: string]: unknown;
}

/** Namespace of an object of a namespaced kind; `default` for one that names none. */
export function objectNamespace(object: KubernetesObject): string {
  return object.metadata.namespace || "default";
}

/** `namespace/name`, unique for one namespaced kind in one cluster. */
export function objectKey(object: KubernetesObject): string {
  return `${objectNamespace(object)}/${object.metadata.name}`;
}

/** Milliseconds since the epoch; the default creation time for an object that states none that can be read. */
export function creationTimeMs(object: KubernetesObject): number {
  const text = object.metadata.creationTimestamp;
  const parsed = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(parsed) ? defaultCreationTimeMs : parsed;
}
