import type { MeshSettings } from "../mesh/mesh-settings.ts";
import type { ClassProxy } from "../mesh/views/views.ts";

/** Who resolves hosts, and by which release. */
export interface Resolving {
  readonly mesh: Pick<MeshSettings, "rules">;
  readonly proxy: Pick<ClassProxy, "ipMode">;
}

/**
 * The family of the addresses of hosts that are resolved as they are asked for. Proxies of both families stay with IPv4, as long as Istio's
 * dual-stack switch is off.
 */
export const familyOfResolved = ({ mesh, proxy }: Resolving): "V4_ONLY" | "V6_ONLY" =>
  mesh.rules.resolvesInFamiliesOfProxy && proxy.ipMode === "IPv6" ? "V6_ONLY" : "V4_ONLY";
