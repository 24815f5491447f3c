/**
 * Networks of the mesh and how to reach them from outside.
 * @see https://istio.io/latest/docs/reference/config/istio.mesh.v1alpha1/#MeshNetworks
 */
export interface MeshNetworks {
  /** Network name → network. */
  readonly networks: Readonly<Record<string, Network>>;
}

export interface Network {
  readonly endpoints: readonly NetworkEndpoints[];
  readonly gateways: readonly IstioNetworkGateway[];
}

/** One of the two. */
export interface NetworkEndpoints {
  readonly fromCidr?: string;
  /** Cluster id of a registry. */
  readonly fromRegistry?: string;
}

/** One of the first two. */
export interface IstioNetworkGateway {
  readonly registryServiceName?: string;
  readonly address?: string;
  readonly port: number;
  readonly locality?: string;
}

/** A mesh of one network. */
export const noMeshNetworks: MeshNetworks = { networks: {} };
