import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import { step } from "../../mesh/memo/step.ts";
import type { EndpointPerspective, EndpointView, MeshLookups } from "../../mesh/views/views.ts";
import { createLocalityPool, type LocalityPool } from "./locality-group.ts";
import { type GatewayIndex, indexGateways } from "./network-gateways.ts";

/** How endpoints look from where a class runs: all that load assignments of one class have in common. */
export interface Sight extends Pick<MeshLookups, "workloadMtlsMode" | "isClusterLocal"> {
  readonly mesh: MeshConfig;
  readonly perspective: EndpointPerspective;
  readonly gateways: GatewayIndex;
  readonly localityOf: LocalityPool;
}

interface Inputs extends Pick<MeshLookups, "mesh" | "workloadMtlsMode" | "isClusterLocal" | "networkGateways"> {
  readonly perspective: EndpointPerspective;
  /** DNS clusters can reach a gateway by its name. */
  readonly hostnames: boolean;
}

export const sight = step(
  "sight of endpoints",
  {
    mesh: "identity",
    workloadMtlsMode: "identity",
    isClusterLocal: "identity",
    networkGateways: "identity",
    perspective: "identity",
    hostnames: "value",
  },
  ({ networkGateways, hostnames, ...inputs }: Inputs): Sight => ({
    ...inputs,
    gateways: indexGateways(networkGateways, hostnames),
    localityOf: createLocalityPool(),
  }),
);

/** The part of a view that decides how endpoints look; no endpoint and no service is in it. */
export function sightOf(
  { lookups, perspective }: Pick<EndpointView, "lookups" | "perspective">,
  hostnames: boolean,
): Inputs {
  const { mesh, workloadMtlsMode, isClusterLocal, networkGateways } = lookups;
  return { mesh, workloadMtlsMode, isClusterLocal, networkGateways, perspective, hostnames };
}
