import { query } from "../../incremental/query.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import type { EndpointPerspective, EndpointView, MeshLookups } from "../../mesh/views/views.ts";
import type { NetworkGateway } from "../../registry/changes/registry-state.ts";
import { createLocalityPool, type LocalityPool } from "./locality-group.ts";
import { type GatewayIndex, indexGateways } from "./network-gateways.ts";

/** How endpoints look from where a class runs: all that load assignments of one class have in common. */
export interface Sight extends Pick<MeshLookups, "workloadMtlsMode" | "isClusterLocal"> {
  readonly mesh: MeshSettings;
  readonly perspective: EndpointPerspective;
  readonly gateways: GatewayIndex;
  readonly localityOf: LocalityPool;
}

interface Inputs extends Pick<MeshLookups, "mesh" | "workloadMtlsMode" | "isClusterLocal"> {
  readonly perspective: EndpointPerspective;
  readonly gateways: readonly NetworkGateway[];
}

export const sight = query(
  "sight of endpoints",
  ({ gateways, ...inputs }: Inputs): Sight => ({
    ...inputs,
    gateways: indexGateways(gateways),
    localityOf: createLocalityPool(),
  }),
);

/**
 * The part of a view that decides how endpoints look; no endpoint and no service is in it.
 *
 * @param hostnames DNS clusters can reach a gateway by its name
 */
export function sightOf(
  { lookups, perspective }: Pick<EndpointView, "lookups" | "perspective">,
  hostnames: boolean,
): Inputs {
  const { mesh, workloadMtlsMode, isClusterLocal, networkGateways, resolvedGateways } = lookups;
  const gateways = hostnames ? networkGateways : resolvedGateways;
  return { mesh, workloadMtlsMode, isClusterLocal, gateways, perspective };
}
