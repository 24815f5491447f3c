import type { ConfigKey } from "../config/diagnostic.ts";

/** One xDS resource as the compiler makes it: plain JSON in protobuf's mapping, and the objects it came from. */
export interface Resource<Json extends object = object> {
  /** Unique within its type for one class. */
  readonly name: string;
  readonly json: Json;
  readonly from: readonly ConfigKey[];
}

/** The types served, by the last part of their REST path. */
export const resourceTypes = ["clusters", "endpoints", "listeners", "routes"] as const;
export type ResourceType = (typeof resourceTypes)[number];

/** Everything generated for one class, by type, sorted by name. */
export type ClassResources = Readonly<Record<ResourceType, readonly Resource[]>>;
