import { byCodePoint, type ConfigKey, type Diagnostic, type Origin } from "../base/diagnostic.ts";

/** What Istio's `Config` holds beside its spec. */
export interface ConfigMeta {
  /** CamelCase kind, `VirtualService`. */
  readonly kind: string;
  /** API group, `networking.istio.io`; "" for core Kubernetes kinds. */
  readonly group: string;
  /** API version as written, `v1`, `v1alpha3`. */
  readonly version: string;
  readonly name: string;
  /** Never empty for a namespaced kind: Istio kinds without one are in `default`. */
  readonly namespace: string;
  /** Domain suffix of the mesh, `cluster.local`. */
  readonly domain: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Opaque; "" where the source does not version objects. */
  readonly resourceVersion: string;
  /** Milliseconds since the epoch; objects that state none get `defaultCreationTime`. */
  readonly creationTimestampMs: number;
  /** How often its spec was changed, as an API server counts; absent: no server has it. */
  readonly generation?: number;
  /** By which a server tells objects apart that have one name at different times; absent: no server has it. */
  readonly uid?: string;
}

/** One object: metadata, validated spec with defaults applied, and where it came from. */
export interface Config<Spec = unknown> {
  readonly meta: ConfigMeta;
  readonly spec: Spec;
  readonly status?: unknown;
  readonly origin: Origin;
  /**
   * Of an object that was made from another one: its fields (`spec.jwtRules.0`) → the fields that they stand for in the
   * object that `origin` names. Absent: the object is as somebody wrote it.
   */
  readonly madeFrom?: Readonly<Record<string, Diagnostic["path"]>>;
  /** Further objects that it was made from. */
  readonly alsoMadeFrom?: readonly ConfigKey[];
}

/** Where a field is written: the path itself, or for a converted object the path in its origin; empty if there is none. */
export function writtenPath({ madeFrom }: Config, path: Diagnostic["path"]): Diagnostic["path"] {
  if (madeFrom === undefined) return path;
  for (let length = path.length; length > 0; length--) {
    const found = madeFrom[path.slice(0, length).join(".")];
    if (found !== undefined) return [...found, ...path.slice(length)];
  }
  return [];
}

/** Creation time of an object that states none: 2024-01-01T00:00:00Z, so ties fall to name and namespace. */
export const defaultCreationTimeMs = Date.UTC(2024, 0, 1);

/** The object as somebody wrote it: for a converted one that which it was made from. */
export function keyOf(config: Config): ConfigKey {
  if (config.madeFrom !== undefined) return config.origin.key;
  const { group, kind, name, namespace } = config.meta;
  return { group, kind, name, namespace };
}

/** Every object that somebody wrote for this one. */
export function keysOf(config: Config): readonly ConfigKey[] {
  const { alsoMadeFrom } = config;
  return alsoMadeFrom === undefined ? [keyOf(config)] : [keyOf(config), ...alsoMadeFrom];
}

/** Istio's age order: oldest first, ties by name, then namespace. */
export function byAge(a: Config, b: Config): number {
  return (
    a.meta.creationTimestampMs - b.meta.creationTimestampMs ||
    byCodePoint(a.meta.name, b.meta.name) ||
    byCodePoint(a.meta.namespace, b.meta.namespace)
  );
}
