import type { Switches } from "./switches.ts";

/**
 * Releases of Istio whose answers can be given, oldest first. What they answer otherwise to the same objects are the rules of
 * `lib/mesh/release-rules.ts`; a field that a release brought is heeded whatever the release.
 */
export const releases = ["1.30", "1.31", "1.32"] as const;

export type Release = (typeof releases)[number];

/** Counts where nobody says which release is meant. */
export const newestRelease: Release = "1.32";

/** `compat` of a folder's `portolan.yaml`: which Istio the mesh is answered like. */
export interface CompatSettings {
  /** Absent: the newest. */
  readonly release?: Release;
  /** Absent: each as the release has it. */
  readonly switches?: Switches;
}
