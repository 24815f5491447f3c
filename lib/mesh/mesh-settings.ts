import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import { query } from "../incremental/query.ts";
import type { ReleaseRules } from "./release-rules.ts";

/** What holds for the whole mesh: what its operator wrote, and how the release that it is answered like behaves. */
export interface MeshSettings extends MeshConfig {
  readonly rules: ReleaseRules;
}

interface Inputs {
  readonly meshConfig: MeshConfig;
  readonly rules: ReleaseRules;
}

/** One object for the same two: whoever remembers by the mesh's settings makes its work again where a rule changes. */
export const meshSettings = query(
  "mesh settings",
  ({ meshConfig, rules }: Inputs): MeshSettings => ({ ...meshConfig, rules }),
);
