import type { Cluster, Listener } from "./documents.ts";

/** How a v1 Envoy reaches a front over TLS. Paths are those of the machine that runs Envoy. */
export interface TlsServer {
  /** DNS name of the front: TLS asks for it, and its certificate has to name it. */
  readonly host: string;
  readonly port: number;
  readonly caFile: string;
  /** The proxy's own certificate and key, for a front that asks for one. */
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Port on 127.0.0.1 of the listener that the four discovery clusters point at. */
  readonly loopbackPort: number;
  /** Value of the `authorization` header, `Bearer …`. */
  readonly authorization?: string | undefined;
}

/** Cluster of the front and listener in front of it, by the same name. */
const serverName = "portolan";

/** Address of the listener that forwards discovery requests, `host:port`. */
export const loopbackAddress = ({ loopbackPort }: TlsServer): string => `127.0.0.1:${loopbackPort}`;

/**
 * The cluster that speaks TLS with the front. Envoy 1.5 resolves IPv4 addresses alone unless `dns_lookup_family` is set.
 *
 * @see https://www.envoyproxy.io/docs/envoy/v1.5.0/api-v1/cluster_manager/cluster_ssl
 */
export function tlsCluster(server: TlsServer, connectTimeoutMs: number): Cluster {
  const { host, port, caFile, certificateFile, keyFile } = server;
  const own =
    certificateFile === undefined || keyFile === undefined
      ? {}
      : { cert_chain_file: certificateFile, private_key_file: keyFile };
  return {
    name: serverName,
    connect_timeout_ms: connectTimeoutMs,
    type: "logical_dns",
    lb_type: "round_robin",
    hosts: [{ url: `tcp://${host}:${port}` }],
    ssl_context: { ...own, ca_cert_file: caFile, verify_subject_alt_name: [host], sni: host },
  };
}

/**
 * The listener that the four discovery clusters point at. A v1 Envoy writes the name of the cluster that it asks (`cds`, `lds`, `rds`,
 * `sds`) into `Host`, and a platform that finds a front by its name refuses these names. Only a route can write another one.
 * It forwards GETs of the v1 API and nothing else, since every process of the machine reaches it.
 *
 * @see docs/decisions/054-authority-of-polls.md
 */
export function loopbackListener(server: TlsServer): Listener {
  const { host, port, authorization } = server;
  return {
    address: `tcp://${loopbackAddress(server)}`,
    name: serverName,
    filters: [
      {
        type: "read",
        name: "http_connection_manager",
        config: {
          codec_type: "auto",
          stat_prefix: serverName,
          route_config: {
            validate_clusters: true,
            virtual_hosts: [
              {
                name: serverName,
                domains: ["*"],
                routes: [
                  {
                    prefix: "/v1/",
                    headers: [{ name: ":method", value: "GET" }],
                    host_rewrite: port === 443 ? host : `${host}:${port}`,
                    cluster: serverName,
                    timeout_ms: requestTimeoutMs,
                    ...(authorization === undefined
                      ? {}
                      : { request_headers_to_add: [{ key: "authorization", value: authorization }] }),
                  },
                ],
              },
            ],
          },
          filters: [{ type: "decoder", name: "router", config: {} }],
          access_log: [],
        },
      },
    ],
    bind_to_port: true,
  };
}

/** A v1 Envoy gives up on a discovery request after 1 s (`RestApiFetcher`); what is left of it ends soon after. */
const requestTimeoutMs = 2_000;
