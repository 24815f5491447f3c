import type { Config } from "../../config/config.ts";

/** From an object to a field of it: `["spec", "http", 0]`. */
export type FieldPath = readonly (string | number)[];

/** An object of a root's sources. */
export interface RootObject {
  /** As `keyText` writes it. */
  readonly key: string;
  /** Its file, as diagnostics name it. */
  readonly file: string;
  /** 1-based; 0 for what stands in no file. */
  readonly line: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: unknown;
  /** With its validated spec; absent for Kubernetes' own kinds. */
  readonly config?: Config;
  /** As it is written, for Kubernetes' own kinds: some have no spec, and some say more beside it. */
  readonly written?: unknown;
}

/** The objects that a root was compiled from. */
export interface RootObjects {
  readonly all: readonly RootObject[];
  /** One of these, or an object that is refused and fails closed. */
  get(key: string): RootObject | undefined;
  /** Where a field stands, `reviews.yaml:12`; the object's own place for what stands in no file. */
  placeOf(object: RootObject, path: FieldPath): string;
}
