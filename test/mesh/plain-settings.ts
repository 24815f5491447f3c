import type { Release } from "../../lib/config/compat/compat-settings.ts";
import type { Switches } from "../../lib/config/compat/switches.ts";
import { defaultMeshConfig, type MeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import type { MeshSettings } from "../../lib/mesh/mesh-settings.ts";
import { releaseRules } from "../../lib/mesh/release-rules.ts";

/** Settings of a mesh that is answered like Istio 1.30, unless said otherwise. */
export function settingsOf(
  meshConfig: Partial<MeshConfig> = {},
  release: Release = "1.30",
  switches: Switches = {},
): MeshSettings {
  return { ...defaultMeshConfig, ...meshConfig, rules: releaseRules(createMemo(), { release, switches }) };
}
