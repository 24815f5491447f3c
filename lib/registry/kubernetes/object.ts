import { defaultCreationTimeMs } from "../../config/config.ts";
import type { Origin } from "../../config/diagnostic.ts";

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

type Fields = Readonly<Record<string, unknown>>;

const noFields: Fields = Object.freeze({});
const noStrings: Readonly<Record<string, string>> = Object.freeze({});

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of an object; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : noFields;
}

/** The elements of an array; none for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** undefined for anything but a number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** undefined for anything but a boolean, as Kubernetes tells absent and false apart. */
export function flagOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function allStrings(fields: Fields): fields is Readonly<Record<string, string>> {
  for (const key in fields) if (typeof fields[key] !== "string") return false;
  return true;
}

/** Labels, annotations and selectors: the members whose values are texts. */
export function stringsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isFields(value)) return noStrings;
  if (allStrings(value)) return value;
  const out: Record<string, string> = {};
  for (const [key, member] of Object.entries(value)) if (typeof member === "string") out[key] = member;
  return out;
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
