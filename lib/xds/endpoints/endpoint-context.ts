import { query } from "../../incremental/query.ts";
import type { MeshSettings } from "../../mesh/mesh-settings.ts";
import type { EndpointPerspective, EndpointView, MeshLookups } from "../../mesh/views/views.ts";
import type { NetworkGateway } from "../../registry/changes/registry-state.ts";
import { createLocalityPool, type LocalityPool } from "./locality-group.ts";
import { type GatewayIndex, indexGateways } from "./network-gateways.ts";

/** What all load assignments of a class have in common: mesh settings, perspective, network gateways. */
export interface EndpointContext extends Pick<MeshLookups, "workloadMtlsMode" | "isClusterLocal"> {
  readonly mesh: MeshSettings;
  readonly perspective: EndpointPerspective;
  readonly gateways: GatewayIndex;
  readonly localityOf: LocalityPool;
}

interface Inputs extends Pick<MeshLookups, "mesh" | "workloadMtlsMode" | "isClusterLocal"> {
  readonly perspective: EndpointPerspective;
  readonly gateways: readonly NetworkGateway[];
}

export const endpointContext = query(
  "sight of endpoints",
  ({ gateways, ...inputs }: Inputs): EndpointContext => ({
    ...inputs,
    gateways: indexGateways(gateways),
    localityOf: createLocalityPool(),
  }),
);

/**
 * The inputs of the context, from a view; no endpoint and no service is among them.
 *
 * @param hostnames DNS clusters can reach a gateway by its name
 */
export function endpointContextInputs(
  { lookups, perspective }: Pick<EndpointView, "lookups" | "perspective">,
  hostnames: boolean,
): Inputs {
  const { mesh, workloadMtlsMode, isClusterLocal, networkGateways, resolvedGateways } = lookups;
  const gateways = hostnames ? networkGateways : resolvedGateways;
  return { mesh, workloadMtlsMode, isClusterLocal, gateways, perspective };
}
