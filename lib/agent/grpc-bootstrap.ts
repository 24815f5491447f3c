import type { BootstrapMetadata, BootstrapOptions } from "./bootstrap.ts";

/** Who a program that speaks xDS itself is, and where its resources come from. */
export interface GrpcBootstrapOptions
  extends Pick<BootstrapOptions, "nodeId" | "nodeCluster" | "metadata" | "locality"> {
  readonly server: { readonly host: string; readonly port: number; readonly tls?: { readonly caFile: string } };
  /** Where the workload's certificate, key and authority lie; undefined: it has none. */
  readonly certificateFolder: string | undefined;
}

/** What `GRPC_XDS_BOOTSTRAP` names a file with. Its form is gRPC's own and no message of Envoy's. */
export interface GrpcBootstrap {
  readonly xds_servers: readonly {
    readonly server_uri: string;
    readonly channel_creds: readonly { readonly type: string; readonly config?: object }[];
    readonly server_features: readonly string[];
  }[];
  readonly node: {
    readonly id: string;
    readonly cluster: string;
    readonly metadata: BootstrapMetadata;
    readonly locality: { readonly region?: string; readonly zone?: string; readonly sub_zone?: string };
  };
  readonly server_listener_resource_name_template: string;
  readonly certificate_providers?: Readonly<Record<string, { readonly plugin_name: string; readonly config: object }>>;
}

/** The provider that resources name (`certificate-provider.ts` of lib/xds/grpc, held equal by a test). */
export const certificateProvider = "default";

/** Programs look at their certificates again as often. Istio's agent says 15 minutes, and certificates of some agents live for an hour. */
const refreshInterval = "60s";

/**
 * Files are named as Istio's agents name them.
 *
 * @see https://github.com/grpc/proposal/blob/master/A27-xds-global-load-balancing.md#bootstrap-file
 * @see https://github.com/grpc/proposal/blob/master/A29-xds-tls-security.md#file_watcher-certificate-provider
 * @see istio 1.30.3 pkg/istio-agent/grpcxds/grpc_bootstrap.go
 */
export function grpcBootstrapOf(options: GrpcBootstrapOptions): GrpcBootstrap {
  const { nodeId, nodeCluster, metadata, locality = {}, server, certificateFolder: folder } = options;
  const { region, zone, subZone } = locality;
  const config = {
    certificate_file: `${folder}/cert-chain.pem`,
    private_key_file: `${folder}/key.pem`,
    ca_certificate_file: `${folder}/root-cert.pem`,
    refresh_interval: refreshInterval,
  };
  return {
    xds_servers: [
      {
        server_uri: `${server.host.includes(":") ? `[${server.host}]` : server.host}:${server.port}`,
        channel_creds: [
          server.tls === undefined
            ? { type: "insecure" }
            : { type: "tls", config: { ca_certificate_file: server.tls.caFile } },
        ],
        server_features: ["xds_v3"],
      },
    ],
    node: {
      id: nodeId,
      cluster: nodeCluster,
      metadata,
      // Some programs insist on one, be it empty.
      locality: {
        ...(region === undefined ? {} : { region }),
        ...(zone === undefined ? {} : { zone }),
        ...(subZone === undefined ? {} : { sub_zone: subZone }),
      },
    },
    server_listener_resource_name_template: "xds.istio.io/grpc/lds/inbound/%s",
    ...(folder === undefined
      ? {}
      : { certificate_providers: { [certificateProvider]: { plugin_name: "file_watcher", config } } }),
  };
}
